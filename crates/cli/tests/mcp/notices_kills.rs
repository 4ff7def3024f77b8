//! Servers killed at random while tasks end.
//!
//! The rule: a reply is written only after the notifications of the previous reply were acknowledged. So only the
//! notifications in the last line of a killed server may be delivered again, and none may be lost.

use std::collections::BTreeSet;

use mw_testkit::host::{Host, notified_tasks};
use mw_testkit::wait_until;
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::home;

const SERVERS: usize = 14;
const TASKS: usize = 6;

/// The delivered notifications, and those that must not be repeated.
#[derive(Default)]
struct Book {
    delivered: BTreeSet<String>,
    closed: BTreeSet<String>,
}

impl Book {
    fn read(&mut self, message: &Value) -> Vec<String> {
        let ids =
            if message.get("result").is_some() { notified_tasks(&message["result"]) } else { Vec::new() };
        for id in &ids {
            assert!(!self.closed.contains(id), "{id} is delivered again");
            self.delivered.insert(id.clone());
        }
        ids
    }
}

#[test]
fn random_kills_lose_no_notification_and_repeat_only_the_last_reply() {
    let home = home().with_env("MEANWHILE_QUEUE_MAX_RUNNING", "4");
    let mut book = Book::default();
    for round in 0..SERVERS {
        let mut host = Host::new(&home);
        for number in 0..TASKS {
            let script = format!("sleep 0.0{number}; exit 3");
            let _ = host.begin("shell", &json!({"command": script, "run_in_background": true}));
            let _ = host.begin("task_list", &json!({"status": "pending"}));
        }
        // The kill may come at any step of the rest.
        let mut last = Vec::new();
        for _ in 0..round % (2 * TASKS) {
            let message = host.next_message().unwrap();
            book.closed.extend(last);
            last = book.read(&message);
        }
        host.server.signal(Signal::KILL);
        let _ = host.server.wait(mw_testkit::SOON);
        while let Some(message) = host.next_message() {
            book.closed.extend(last);
            last = book.read(&message);
        }
    }
    let mut host = Host::new(&home);
    let listed = || -> BTreeSet<String> {
        home.list().iter().map(|task| task["id"].as_str().unwrap().to_owned()).collect()
    };
    wait_until(mw_testkit::SOON, "every end is notified", || {
        let result = host.call("task_list", &json!({"status": "pending"}));
        let ids = book.read(&json!({"result": result}));
        book.closed.extend(ids);
        // A task that a killed server was starting may appear late.
        (listed() == book.delivered).then_some(())
    });
    assert!(
        book.delivered.len() >= SERVERS,
        "too few were started to show anything: {}",
        book.delivered.len()
    );
    assert_eq!(host.notifications(), Vec::<String>::new());
}
