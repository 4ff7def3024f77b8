//! Tasks that are not in the database yet: every command finds them.

use std::fs;

use mw_testkit::{Home, SOON, children, wait_until};

use crate::home;

/// Starts a task that ends at once, and waits for its end without a command.
fn ended_unseen(home: &Home, code: i32) -> String {
    let id = home.start(&format!("exit {code}"));
    let record = home.task_dir(&id).join("result.json");
    wait_until(SOON, "the exit record is written", || record.exists().then_some(()));
    assert!(fs::read_to_string(home.state().join("arrivals")).unwrap().contains(&id));
    id
}

#[test]
fn a_task_can_depend_on_one_whose_end_is_not_in_the_database() {
    let home = home();
    let (good, bad) = (ended_unseen(&home, 0), ended_unseen(&home, 3));
    let after_good = home.start_with(&["--after", &good], "exit 4");
    let after_bad = home.mw(["start", "--json", "--after", &bad, "exit 4"]).exits(0).json();
    assert_eq!(home.ended(&after_good)["exit_code"], 4);
    assert_eq!(after_bad["status"], "cancelled", "{after_bad}");
}

#[test]
fn a_task_whose_end_is_not_in_the_database_can_be_restarted() {
    let home = home();
    let id = ended_unseen(&home, 3);
    let _ = home.mw(["restart", &id]).ok();
    let task = home.ended(&id);
    assert_eq!((&task["runs"], &task["exit_code"]), (&2.into(), &3.into()), "{task}");
    assert_eq!(home.list().len(), 1);
}

#[test]
fn a_task_whose_end_is_not_in_the_database_can_be_cleared() {
    let home = home();
    let id = ended_unseen(&home, 3);
    let _ = home.mw(["clear", &id]).ok();
    assert_eq!(home.list(), [serde_json::Value::Null; 0]);
    let _ = home.mw(["status", "--json", &id]).refusal(5);
}

#[test]
fn a_running_task_that_is_not_in_the_database_is_killed_by_its_handle() {
    let home = home();
    let id = home.start(children::SLEEPER);
    let _ = home.mw(["kill", "bash_1"]).ok();
    assert_eq!(home.status(&id)["status"], "cancelled");
}

#[test]
fn unusual_session_names_keep_tasks_and_slots_separate() {
    let home = home().with_env("MEANWHILE_QUEUE_MAX_RUNNING", "1");
    let long = "é".repeat(100);
    let sessions = [".", "..", "../..", "/", "a/b", "a%2fb", " ", "slot-0", "number", "ß", &long, &long[2..]];
    for session in sessions {
        let started = home.command(["start", "--json", children::SLEEPER]).session(session).run().json();
        assert_eq!(started["status"], "running", "{session}");
        let waits = home.command(["start", "--json", "true"]).session(session).run().json();
        assert_eq!(waits["status"], "pending", "{session}");
        let listed = home.command(["list", "--json"]).session(session).run().json();
        assert_eq!(listed["total"], 2, "{session}");
    }
    assert_eq!(fs::read_dir(home.state().join("sessions")).unwrap().count(), sessions.len());
}

#[test]
fn two_homes_share_no_tasks() {
    let (one, other) = (home(), home());
    let id = one.start(children::SLEEPER);
    let _ = other.start("true");
    let _ = other.mw(["kill", "--json", &id]).refusal(5);
    assert_eq!((one.list().len(), other.list().len()), (1, 1));
    assert_eq!(one.status(&id)["status"], "running");
}
