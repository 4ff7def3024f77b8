//! Looking at tasks while they are being started: a look invents nothing.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use mw_testkit::{Home, children};

use crate::home;

/// Ends the looking, also when a test fails.
struct Enough<'a>(&'a AtomicBool);

impl Drop for Enough<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Looks again and again from two hosts while `act` runs.
fn under_observation<T>(home: &Home, act: impl FnOnce() -> T) -> T {
    let enough = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !enough.load(Ordering::Relaxed) {
                    let _ = home.mw(["list", "--json"]).ok();
                }
            });
        }
        let _end = Enough(&enough);
        act()
    })
}

#[test]
fn a_task_that_is_looked_at_while_it_starts_has_its_true_process() {
    let home = home().with_env("MEANWHILE_QUEUE_MAX_RUNNING", "100");
    let answers = under_observation(&home, || {
        let start = || home.mw(["start", "--json", children::SLEEPER]).exits(0).json();
        (0..20).map(|_| start()).collect::<Vec<_>>()
    });
    for answer in answers {
        let task = home.status(answer["id"].as_str().unwrap());
        assert_eq!(task["status"], "running", "{task}");
        assert_eq!(task["pid"], answer["pid"], "{task}");
    }
}

#[test]
fn a_task_that_is_looked_at_while_it_starts_is_started_once() {
    let home = home();
    under_observation(&home, || {
        for number in 0..20 {
            let id = home.start(&format!("echo {number} >> ran; exit 3"));
            assert_eq!(home.ended(&id)["exit_code"], 3);
        }
    });
    let expected: String = (0..20).map(|number| format!("{number}\n")).collect();
    assert_eq!(home.file("ran"), expected);
    for task in home.list() {
        let id = task["id"].as_str().unwrap();
        let events = home.mw(["watch", "--no-follow", "--task", id]).exits(0).json_lines();
        let started: Vec<_> = events.iter().filter(|event| event["event"] == "started").collect();
        assert_eq!(started.len(), 1, "{events:?}");
        assert_ne!(started[0]["process"]["pid"], 0, "{events:?}");
        assert_eq!(started[0]["started_at"], task["started_at"], "{events:?}");
    }
}
