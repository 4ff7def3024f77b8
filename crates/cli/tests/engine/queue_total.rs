//! The limit on tasks of all sessions.

use std::fs;
use std::thread;

use mw_testkit::{Home, SOON, children, wait_until};
use serde_json::Value;

use crate::home;

fn limited(per_session: u32, in_all: u32) -> Home {
    home()
        .with_env("MEANWHILE_QUEUE_MAX_RUNNING", per_session.to_string())
        .with_env("MEANWHILE_QUEUE_MAX_RUNNING_TOTAL", in_all.to_string())
}

/// Starts a script in a session and returns the answer.
fn start_in(home: &Home, session: &str, script: &str) -> Value {
    home.command(["start", "--json", script]).session(session).run().exits(0).json()
}

#[test]
fn all_sessions_together_stay_within_the_total() {
    let home = limited(8, 2);
    for session in ["one", "two"] {
        assert_eq!(start_in(&home, session, children::SLEEPER)["status"], "running");
    }
    for session in ["three", "one"] {
        assert_eq!(start_in(&home, session, children::SLEEPER)["status"], "pending");
    }
    assert_eq!(home.list().iter().filter(|task| task["status"] == "running").count(), 2);
}

#[test]
fn a_slot_freed_by_one_session_is_used_by_another_without_a_command() {
    let home = limited(8, 1);
    let _ = start_in(&home, "one", &children::gated("go", 0));
    let second = start_in(&home, "two", "touch second");
    assert_eq!(second["status"], "pending", "{second}");
    home.open("go");
    // The test only reads a file: no command runs that could start a task.
    home.file("second");
}

#[test]
fn a_slot_freed_by_a_kill_is_used_by_another_session() {
    let home = limited(8, 1);
    let first = start_in(&home, "one", children::SLEEPER)["id"].as_str().unwrap().to_owned();
    let _ = start_in(&home, "two", "touch second");
    let _ = home.command(["kill", &first]).session("one").run().ok();
    home.file("second");
}

#[test]
fn a_session_stays_within_its_limit_below_the_total() {
    let home = limited(1, 3);
    assert_eq!(start_in(&home, "one", children::SLEEPER)["status"], "running");
    assert_eq!(start_in(&home, "one", children::SLEEPER)["status"], "pending");
    // A task that waits for a slot of its session takes no slot from the others.
    for session in ["two", "three"] {
        assert_eq!(start_in(&home, session, children::SLEEPER)["status"], "running");
    }
    assert_eq!(start_in(&home, "four", children::SLEEPER)["status"], "pending");
}

#[test]
fn a_start_beyond_the_total_can_be_refused() {
    let home = limited(8, 1);
    let _ = start_in(&home, "one", children::SLEEPER);
    let args = ["start", "--json", "--at-capacity", "reject", "touch ran"];
    let _ = home.command(args).session("two").run().refusal(6);
    assert_eq!(home.list().len(), 1);
    assert!(!home.has_file("ran"));
}

#[test]
fn a_total_of_zero_is_no_limit() {
    let home = limited(8, 0);
    for number in 0..10 {
        let answer = start_in(&home, &format!("session {}", number % 2), children::SLEEPER);
        assert_eq!(answer["status"], "running", "{answer}");
    }
}

#[test]
fn concurrent_starts_of_many_sessions_never_exceed_the_total() {
    let home = limited(2, 3);
    let script = "mkdir run.$$; ls -d run.* | wc -l >> counts; sleep 0.05; rmdir run.$$; exit 0";
    thread::scope(|scope| {
        for session in ["one", "two", "three"] {
            let home = &home;
            scope.spawn(move || (0..6).for_each(|_| drop(start_in(home, session, script))));
        }
    });
    let counts = wait_until(SOON, "all have run", || {
        let text = fs::read_to_string(home.work().join("counts")).ok()?;
        let counts: Vec<u32> = text.lines().filter_map(|line| line.trim().parse().ok()).collect();
        (counts.len() == 18).then_some(counts)
    });
    assert!(counts.iter().all(|count| *count <= 3), "{counts:?}");
    for task in home.list() {
        assert_eq!(home.ended(task["id"].as_str().unwrap())["status"], "completed");
    }
}
