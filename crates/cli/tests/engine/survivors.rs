//! Survivors: children that outlive the first process of their task.

use mw_testkit::contract::{count, pids};
use mw_testkit::{SOON, alive, children, wait_until};

use crate::home;

#[test]
fn a_task_ends_when_its_first_process_ends() {
    let home = home();
    let id = home.start(&format!("{}\nexit 0", children::leave_holder("kid")));
    let _ = home.mw(["wait", &id]).exits(0);
    assert!(alive(home.pid_in("kid")));
}

#[test]
fn survivors_are_counted() {
    let home = home();
    let id =
        home.start(&format!("{}\nwhile [ ! -e kid ]; do :; done; exit 3", children::leave_holder("kid")));
    let task = home.ended(&id);
    assert_eq!(task["exit_code"], 3, "{task}");
    assert_eq!(count(&task["survivors"]), 1, "{task}");
}

#[test]
fn a_task_without_remaining_processes_has_no_survivors() {
    let home = home();
    let task = home.ended(&home.start("true"));
    assert_eq!(count(&task["survivors"]), 0, "{task}");
}

#[test]
fn survivors_can_be_killed_after_the_end() {
    let home = home();
    let leave = [children::leave_holder("a"), children::leave_setsid("b"), children::leave_double_fork("c")];
    let id = home.start(&format!("{}\nexit 0", leave.join("\n")));
    home.ended(&id);
    let kids = ["a", "b", "c"].map(|file| home.pid_in(file));
    let receipt = home.mw(["kill", "--json", &id]).exits(0).json();
    let killed = pids(&receipt["killed"]);
    for kid in kids {
        assert!(!alive(kid), "{receipt}");
        assert!(killed.contains(&u64::from(kid)), "{receipt}");
    }
    home.wait_until_empty(SOON);
}

#[test]
fn killing_survivors_does_not_change_the_outcome() {
    let home = home();
    let id = home.start(&format!("{}\nexit 0", children::leave_setsid("kid")));
    home.ended(&id);
    let _ = home.pid_in("kid");
    let receipt = home.mw(["kill", "--json", &id]).exits(0).json();
    assert_eq!(receipt["status"], "completed", "{receipt}");
    let task = home.status(&id);
    assert_eq!((&task["status"], &task["exit_code"]), (&"completed".into(), &0.into()), "{task}");
}

#[test]
fn survivors_that_ended_are_not_counted() {
    let home = home();
    let id = home.start(&format!("{}\nexit 0", children::leave_setsid("kid")));
    home.ended(&id);
    home.kill_process(home.pid_in("kid"));
    wait_until(SOON, "no survivor is left", || (count(&home.status(&id)["survivors"]) == 0).then_some(()));
    home.wait_until_empty(SOON);
}

#[test]
fn output_of_survivors_is_kept() {
    let home = home();
    let id = home.start(&children::write_after_exit("go", 3));
    assert_eq!(home.ended(&id)["exit_code"], 3);
    assert_eq!(home.log(&id), b"early\n");
    home.open("go");
    home.until_logged(&id, "early\nlate\n");
    assert_eq!(home.status(&id)["exit_code"], 3);
}

#[test]
fn survivors_hold_no_slot() {
    let home = home().with_env("MEANWHILE_QUEUE_MAX_RUNNING", "1");
    let first = home.start(&format!("{}\nexit 0", children::leave_setsid("kid")));
    home.ended(&first);
    let second = home.start("exit 5");
    assert_eq!(home.ended(&second)["exit_code"], 5);
    assert!(alive(home.pid_in("kid")));
}

#[test]
fn a_supervisor_stays_until_the_last_survivor_ended() {
    let home = home();
    let id = home.start(&format!("{}\nexit 0", children::leave_double_fork("kid")));
    home.ended(&id);
    let kid = home.pid_in("kid");
    assert!(!home.supervisors_of(&id).is_empty());
    home.kill_process(kid);
    wait_until(SOON, "the supervisor has exited", || home.supervisors_of(&id).is_empty().then_some(()));
}
