//! Concurrent queries and starts: no task is invented, listed twice or missing.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use mw_testkit::{Home, children};

use crate::home;

/// Stops the queries, also when a test fails.
struct Enough<'a>(&'a AtomicBool);

impl Drop for Enough<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Queries repeatedly from two hosts while `act` runs.
fn under_observation<T>(look: impl Fn() + Sync, act: impl FnOnce() -> T) -> T {
    let enough = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !enough.load(Ordering::Relaxed) {
                    look();
                }
            });
        }
        let _end = Enough(&enough);
        act()
    })
}

fn list(home: &Home) {
    let _ = home.mw(["list", "--json"]).ok();
}

#[test]
fn a_list_during_a_start_does_not_change_the_process_of_the_task() {
    let home = home().with_env("MEANWHILE_QUEUE_MAX_RUNNING", "100");
    let answers = under_observation(
        || list(&home),
        || {
            let start = || home.mw(["start", "--json", children::SLEEPER]).exits(0).json();
            (0..20).map(|_| start()).collect::<Vec<_>>()
        },
    );
    for answer in answers {
        let task = home.status(answer["id"].as_str().unwrap());
        assert_eq!(task["status"], "running", "{task}");
        assert_eq!(task["pid"], answer["pid"], "{task}");
    }
}

#[test]
fn a_list_during_a_start_does_not_start_the_task_twice() {
    let home = home();
    under_observation(
        || list(&home),
        || {
            for number in 0..20 {
                let id = home.start(&format!("echo {number} >> ran; exit 3"));
                assert_eq!(home.ended(&id)["exit_code"], 3);
            }
        },
    );
    let expected: String = (0..20).map(|number| format!("{number}\n")).collect();
    assert_eq!(home.lines_in("ran", 20), expected);
    let tasks = home.list();
    assert_eq!(tasks.len(), 20);
    for task in tasks {
        let id = task["id"].as_str().unwrap();
        let events = home.mw(["watch", "--no-follow", "--task", id]).exits(0).json_lines();
        let started: Vec<_> = events.iter().filter(|event| event["event"] == "started").collect();
        assert_eq!(started.len(), 1, "{events:?}");
        assert_ne!(started[0]["process"]["pid"], 0, "{events:?}");
        assert_eq!(started[0]["started_at"], task["started_at"], "{events:?}");
    }
}

#[test]
fn a_list_has_every_task_once_while_tasks_start_and_end() {
    let home = home().with_env("MEANWHILE_QUEUE_MAX_RUNNING", "1");
    let asked_for = Mutex::new(BTreeSet::new());
    let look = || {
        let before = asked_for.lock().unwrap().clone();
        let tasks = home.list();
        let ids: Vec<_> = tasks.iter().map(|task| task["id"].as_str().unwrap().to_owned()).collect();
        let found: BTreeSet<_> = ids.iter().cloned().collect();
        assert_eq!(found.len(), ids.len(), "a task is listed twice: {ids:?}");
        let missing: Vec<_> = before.difference(&found).collect();
        assert!(missing.is_empty(), "{missing:?} are not listed");
    };
    under_observation(look, || {
        for _ in 0..40 {
            let id = home.start("exit 0");
            asked_for.lock().unwrap().insert(id);
        }
    });
}

#[test]
fn a_task_queued_while_slots_become_free_always_runs() {
    let home = home().with_env("MEANWHILE_QUEUE_MAX_RUNNING", "1");
    let ids = thread::scope(|scope| {
        let hosts: Vec<_> = (0..4)
            .map(|_| scope.spawn(|| (0..25).map(|_| home.start("exit 0")).collect::<Vec<_>>()))
            .collect();
        hosts.into_iter().flat_map(|host| host.join().unwrap()).collect::<Vec<_>>()
    });
    for id in ids {
        let task = home.ended(&id);
        assert_eq!(task["status"], "completed", "{task}");
    }
}
