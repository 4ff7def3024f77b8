//! Killed supervisors of nested tasks: neither task affects the other.

use mw_testkit::contract::{count, pids};
use mw_testkit::{Home, SOON, alive, children, wait_until};

use crate::home;

/// Starts a task that starts another; both keep running. Returns the outer and the inner one.
fn outer_and_inner(home: &Home) -> (String, String) {
    let start = format!("\"$MW\" start --name inner '{}' >/dev/null", children::SLEEPER);
    let outer = home.start(&format!("{start}; exec sleep 600"));
    let inner = wait_until(SOON, "the inner task runs", || {
        let tasks = home.list();
        let found = tasks.iter().find(|task| task["name"] == "inner" && task["status"] == "running")?;
        Some(found["id"].as_str().unwrap().to_owned())
    });
    (outer, inner)
}

fn nesting() -> Home {
    home().with_env("MW", env!("CARGO_BIN_EXE_mw"))
}

#[track_caller]
fn assert_supervised(home: &Home, id: &str, pid: u32) {
    assert!(alive(pid), "the process of {id} is dead");
    assert_eq!(home.status(id)["status"], "running");
    let _ = home.pair(id);
}

/// Kills the inner task and checks the receipt and its processes.
#[track_caller]
fn assert_killable(home: &Home, id: &str, pid: u32) {
    let receipt = home.mw(["kill", "--json", id]).exits(0).json();
    assert_eq!(receipt["status"], "cancelled", "{receipt}");
    assert_eq!(pids(&receipt["killed"]), [u64::from(pid)], "{receipt}");
    assert!(!alive(pid));
}

#[test]
fn killing_an_outer_task_after_its_supervisor_died_spares_the_inner() {
    for guardian in [false, true] {
        let home = nesting();
        let (outer, inner) = outer_and_inner(&home);
        let (outer_pid, inner_pid) = (home.pid(&outer), home.pid(&inner));
        let pair = home.pair(&outer);
        home.kill_process(if guardian { pair.guardian } else { pair.supervisor });
        assert_supervised(&home, &inner, inner_pid);
        let receipt = home.mw(["kill", "--json", &outer]).exits(0).json();
        assert!(!alive(outer_pid), "{receipt}");
        assert!(!pids(&receipt["killed"]).contains(&u64::from(inner_pid)), "{receipt}");
        assert_supervised(&home, &inner, inner_pid);
        assert_killable(&home, &inner, inner_pid);
        home.wait_until_empty(SOON);
    }
}

#[test]
fn killing_an_outer_task_without_supervisors_spares_the_inner() {
    let home = nesting();
    let (outer, inner) = outer_and_inner(&home);
    let (outer_pid, inner_pid) = (home.pid(&outer), home.pid(&inner));
    home.kill_supervisors(&outer);
    assert_supervised(&home, &inner, inner_pid);
    let receipt = home.mw(["kill", "--json", &outer]).exits(0).json();
    assert!(!alive(outer_pid), "{receipt}");
    assert_supervised(&home, &inner, inner_pid);
    assert_killable(&home, &inner, inner_pid);
    home.wait_until_empty(SOON);
}

#[test]
fn an_inner_task_is_no_survivor_of_an_adopted_outer() {
    let home = nesting();
    let (outer, inner) = outer_and_inner(&home);
    let (outer_pid, inner_pid) = (home.pid(&outer), home.pid(&inner));
    home.kill_supervisors(&outer);
    let _ = home.mw(["list", "--json"]).ok();
    home.kill_process(outer_pid);
    let task = home.ended(&outer);
    assert_eq!(count(&task["survivors"]), 0, "{task}");
    wait_until(SOON, "the adopting supervisor has ended", || {
        home.supervisors_of(&outer).is_empty().then_some(())
    });
    assert_supervised(&home, &inner, inner_pid);
}

#[test]
fn killing_an_outer_task_spares_an_inner_task_whose_supervisor_died() {
    for guardian in [false, true] {
        let home = nesting();
        let (outer, inner) = outer_and_inner(&home);
        let (outer_pid, inner_pid) = (home.pid(&outer), home.pid(&inner));
        let pair = home.pair(&inner);
        home.kill_process(if guardian { pair.guardian } else { pair.supervisor });
        assert!(
            alive(outer_pid),
            "the outer task died with a supervisor of the inner one (guardian: {guardian})"
        );
        assert!(alive(inner_pid), "the inner task died with its supervisor (guardian: {guardian})");
        let receipt = home.mw(["kill", "--json", &outer]).exits(0).json();
        assert!(!alive(outer_pid), "{receipt}");
        assert!(alive(inner_pid), "{receipt}");
        assert_eq!(home.status(&inner)["status"], "running");
        assert_killable(&home, &inner, inner_pid);
        home.wait_until_empty(SOON);
    }
}

#[test]
fn killing_an_outer_task_spares_an_inner_task_whose_supervisors_died() {
    let home = nesting();
    let (outer, inner) = outer_and_inner(&home);
    let (outer_pid, inner_pid) = (home.pid(&outer), home.pid(&inner));
    home.kill_supervisors(&inner);
    // The process of the inner task is a child of the outer supervisor now.
    let receipt = home.mw(["kill", "--json", &outer]).exits(0).json();
    assert_eq!(pids(&receipt["killed"]), [u64::from(outer_pid)], "{receipt}");
    assert!(alive(inner_pid), "{receipt}");
    assert_eq!(home.status(&inner)["status"], "running");
    assert_killable(&home, &inner, inner_pid);
    home.wait_until_empty(SOON);
}
