//! `mw watch` shows a start when it happens.

use std::time::{Duration, Instant};

use mw_testkit::{Home, Running, SOON, children, wait_until};
use serde_json::Value;

use crate::home;

/// Starts a watch without fallback polling, and waits until it listens.
fn watcher(home: &Home) -> Running {
    home.ended(&home.start("true"));
    let watching = home.command(["watch"]).env("MEANWHILE_WAIT_FALLBACK_MS", "60000").spawn();
    wait_until(SOON, "the watcher shows earlier events", || {
        watching.json_lines().iter().any(|event| event["event"] == "ended").then_some(())
    });
    watching
}

/// Waits for the start event of a task in a watch.
fn started(watching: &Running, id: &str) -> Value {
    wait_until(SOON, &format!("the start of {id} is shown"), || {
        watching.json_lines().into_iter().find(|event| event["event"] == "started" && event["task"] == id)
    })
}

#[test]
fn a_start_is_shown_within_a_second() {
    let home = home();
    let watching = watcher(&home);
    // A busy machine may delay some events, but not all; the fallback polling of the watch is once a minute.
    let mut shown = 0;
    wait_until(SOON, "three starts are shown in time", || {
        let begun = Instant::now();
        let id = home.start(children::SLEEPER);
        let _ = started(&watching, &id);
        shown += u32::from(begun.elapsed() < Duration::from_secs(1));
        home.mw(["kill", "--signal", "KILL", &id]).ok();
        (shown == 3).then_some(())
    });
}

#[test]
fn a_start_event_has_the_time_of_the_start() {
    let home = home();
    let watching = watcher(&home);
    let id = home.start(children::SLEEPER);
    let event = started(&watching, &id);
    let task = home.status(&id);
    assert!(task["started_at"].is_string(), "{task}");
    assert_eq!(event["at"], task["started_at"], "{event}");
    assert_eq!(event["run"], 1, "{event}");
}

#[test]
fn a_start_event_from_the_queue_has_the_time_of_the_start() {
    let home = home().with_env("MEANWHILE_QUEUE_MAX_RUNNING", "1");
    let watching = watcher(&home);
    let _first = home.start(&children::gated("go", 0));
    let second = home.start(children::SLEEPER);
    home.open("go");
    let event = started(&watching, &second);
    assert_eq!(event["at"], home.status(&second)["started_at"], "{event}");
}

#[test]
fn a_start_event_recorded_after_the_end_has_the_time_of_the_start() {
    let home = home();
    let id = home.start("exit 3");
    let task = home.ended(&id);
    let events = home.mw(["watch", "--no-follow", "--task", &id]).exits(0).json_lines();
    let event = events.iter().find(|event| event["event"] == "started");
    assert_eq!(event.unwrap()["at"], task["started_at"], "{events:?}");
}

#[test]
fn the_time_and_the_name_of_an_event_occur_once() {
    let home = home();
    home.ended(&home.start("exit 3"));
    let shown = home.mw(["watch", "--no-follow"]).ok();
    assert!(!shown.is_empty(), "no events are shown");
    for line in shown.lines() {
        // JSON parsers differ on duplicate keys, so there must be none.
        assert_eq!(line.matches("\"at\":").count(), 1, "{line}");
        assert_eq!(line.matches("\"event\":").count(), 1, "{line}");
    }
}
