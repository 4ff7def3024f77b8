//! `mw kill` of processes that are hard or impossible to kill.

use mw_testkit::processes::stat;
use mw_testkit::{Home, SOON, alive, children, compiled, need_program, need_root, wait_until};
use rustix::process::Signal;
use serde_json::Value;

use crate::home;

fn signals(receipt: &Value) -> Vec<&str> {
    let sent = receipt["signals"].as_array().unwrap();
    sent.iter().map(|one| one["signal"].as_str().unwrap()).collect()
}

/// Returns the CPU time that a process has used so far, in hundredths of a second.
fn ticks(pid: u32) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let fields: Vec<_> = text.rsplit_once(')').unwrap().1.split_whitespace().collect();
    fields[11..13].iter().map(|field| field.parse::<u64>().unwrap()).sum()
}

/// Creates a home for tasks of other users; only root can change the user.
fn home_of_root() -> Home {
    need_root();
    need_program("setpriv");
    home()
}

/// Starts a script whose supervisor may not signal processes of other users.
fn start_unprivileged(home: &Home, script: &str) -> String {
    let mut start = home.program("setpriv").arg("--bounding-set").arg("-kill");
    for word in [env!("CARGO_BIN_EXE_mw"), "start", "--json", script] {
        start = start.arg(word);
    }
    start.run().json()["id"].as_str().unwrap().to_owned()
}

#[test]
fn a_process_that_may_not_be_signalled_is_reported_as_alive() {
    let home = home_of_root();
    let other_user = "exec setpriv --reuid 65534 --clear-groups sleep 600";
    let id = start_unprivileged(&home, other_user);
    let pid = home.pid(&id);
    wait_until(SOON, "the process runs as another user", || {
        let words = mw_testkit::processes::command_line(pid);
        (words.first().is_some_and(|word| word == "sleep")).then_some(())
    });
    let receipt = home.mw(["kill", "--json", &id, "--grace", "100ms"]).exits(1).json();
    assert_eq!(receipt["status"], "cancelling", "{receipt}");
    assert_eq!(signals(&receipt), ["SIGTERM", "SIGKILL"], "{receipt}");
    assert_eq!(receipt["killed"], serde_json::json!([]), "{receipt}");
    assert_eq!(receipt["survivors"][0]["pid"], pid, "{receipt}");
    assert_eq!(receipt["survivors"][0]["command"], "sleep 600", "{receipt}");
    // The supervisor uses little CPU time while it waits for a process that it cannot kill.
    let supervisor = home.pair(&id).supervisor;
    let before = ticks(supervisor);
    let _ = home.mw(["wait", &id, "--timeout", "2s"]);
    assert!(ticks(supervisor) - before < 40, "{} ticks", ticks(supervisor) - before);
    assert!(alive(pid));
    // Its later end is reported as cancelled.
    mw_testkit::processes::kill_if(pid, Signal::KILL, |_| true);
    let task = home.ended(&id);
    assert_eq!(task["status"], "cancelled", "{task}");
    home.wait_until_empty(SOON);
}

#[test]
fn a_survivor_that_may_not_be_signalled_is_reported_and_waited_for() {
    let home = home_of_root();
    let kid = "setsid setpriv --reuid 65534 --clear-groups sh -c 'echo $$ >&9; exec sleep 600' 9>kid &";
    let script = format!("{kid}\nwhile [ ! -s kid ]; do sleep 0.02; done; exit 0");
    let id = start_unprivileged(&home, &script);
    let kid = home.pid_in("kid");
    home.ended(&id);
    let receipt = home.mw(["kill", "--json", &id, "--grace", "100ms"]).exits(1).json();
    assert_eq!(receipt["survivors"][0]["pid"], kid, "{receipt}");
    assert!(alive(kid), "{receipt}");
    // A supervisor stays until the last process has ended.
    let supervisor = home.pair(&id).supervisor;
    assert_eq!(mw_testkit::contract::count(&home.status(&id)["survivors"]), 1);
    let _ = home.mw(["clear", "--json", &id]).refusal(6);
    assert!(alive(supervisor));
    mw_testkit::processes::kill_if(kid, Signal::KILL, |_| true);
    home.wait_until_empty(SOON);
}

#[test]
fn a_process_whose_main_thread_exited_is_killed() {
    for (before, after) in [("exec", ""), ("", " & wait; exec sleep 600")] {
        let home = home();
        home.compile("headless", compiled::WITHOUT_FIRST_THREAD);
        let id = home.start(&format!("{before} ./headless{after}"));
        let headless = wait_until(SOON, "its main thread has exited", || {
            let is_it = |pid: &u32| {
                mw_testkit::processes::name(*pid).as_deref() == Some("headless")
                    && stat(*pid).is_some_and(|stat| stat.state == 'Z')
            };
            let leader = home.pid(&id);
            [leader].into_iter().chain(mw_testkit::processes::children_of(leader)).find(is_it)
        });
        let receipt = home.mw(["kill", "--json", &id, "--signal", "KILL"]).exits(0).json();
        let killed = mw_testkit::contract::pids(&receipt["killed"]);
        assert!(killed.contains(&u64::from(headless)), "{receipt}");
        assert_eq!(home.status(&id)["status"], "cancelled");
        wait_until(SOON, "the process is gone", || stat(headless).is_none().then_some(()));
    }
}

#[test]
fn a_process_whose_main_thread_exited_is_a_survivor() {
    let home = home();
    home.compile("headless", compiled::WITHOUT_FIRST_THREAD);
    let gone = "until grep -q '^State:.Z' /proc/$!/status; do sleep 0.02; done";
    let id = home.start(&format!("./headless & {gone}; exit 0"));
    let task = home.ended(&id);
    assert_eq!(mw_testkit::contract::count(&task["survivors"]), 1, "{task}");
    let _ = home.mw(["kill", &id]).ok();
    home.wait_until_empty(SOON);
}

#[test]
fn a_stopped_task_is_continued_to_handle_sigterm() {
    let home = home();
    let id = home
        .start("trap 'echo tidied; exit 0' TERM; echo ready; kill -STOP $$; while :; do sleep 0.05; done");
    let pid = home.pid(&id);
    wait_until(SOON, "the task is stopped", || stat(pid).filter(|stat| stat.state == 'T'));
    let receipt = home.mw(["kill", "--json", &id, "--grace", "60s"]).exits(0).json();
    assert_eq!(signals(&receipt), ["SIGTERM"], "{receipt}");
    assert_eq!(home.log(&id), b"ready\ntidied\n");
}

#[test]
fn a_second_kill_does_not_extend_the_grace_period() {
    let home = home();
    let id = home.start(children::STUBBORN);
    home.until_logged(&id, "ready");
    let pid = home.pid(&id);
    let first = home.command(["kill", &id, "--grace", "6s"]).spawn();
    home.until_status(&id, "cancelling");
    let again: Vec<_> = (0..3).map(|_| home.command(["kill", &id, "--grace", "10m"]).spawn()).collect();
    home.until_dead(pid);
    for kill in again.into_iter().chain([first]) {
        let _ = kill.wait().ok();
    }
}
