//! A watcher hears of a start when it happens.

use std::time::{Duration, Instant};

use mw_testkit::{Home, Running, SOON, children, wait_until};
use serde_json::Value;

use crate::home;

/// Spawns a watcher that does not look by itself, and waits until it listens.
fn watcher(home: &Home) -> Running {
    home.ended(&home.start("true"));
    let watching = home.command(["watch"]).env("MEANWHILE_WAIT_FALLBACK_MS", "60000").spawn();
    wait_until(SOON, "the watcher shows what was before", || {
        watching.json_lines().iter().any(|event| event["event"] == "ended").then_some(())
    });
    watching
}

/// Waits for the start of a task among what a watcher shows.
fn started(watching: &Running, id: &str) -> Value {
    wait_until(SOON, &format!("the start of {id} is shown"), || {
        watching.json_lines().into_iter().find(|event| event["event"] == "started" && event["task"] == id)
    })
}

#[test]
fn a_start_is_shown_within_a_second() {
    let home = home();
    let watching = watcher(&home);
    // A machine with other things to do may delay any of them, but not all; by itself the watcher looks once a minute.
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
fn a_start_is_shown_with_the_time_at_which_it_happened() {
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
fn a_start_out_of_the_queue_is_shown_with_its_own_time() {
    let home = home().with_env("MEANWHILE_QUEUE_MAX_RUNNING", "1");
    let watching = watcher(&home);
    let _first = home.start(&children::gated("go", 0));
    let second = home.start(children::SLEEPER);
    home.open("go");
    let event = started(&watching, &second);
    assert_eq!(event["at"], home.status(&second)["started_at"], "{event}");
}

#[test]
fn a_start_that_was_over_when_it_was_seen_has_its_own_time_too() {
    let home = home();
    let id = home.start("exit 3");
    let task = home.ended(&id);
    let events = home.mw(["watch", "--no-follow", "--task", &id]).exits(0).json_lines();
    let event = events.iter().find(|event| event["event"] == "started");
    assert_eq!(event.unwrap()["at"], task["started_at"], "{events:?}");
}

#[test]
fn an_event_says_when_it_happened_once() {
    let home = home();
    home.ended(&home.start("exit 3"));
    for line in home.mw(["watch", "--no-follow"]).ok().lines() {
        // A reader of JSON may take either of two, so there must not be two.
        assert_eq!(line.matches("\"at\":").count(), 1, "{line}");
        assert_eq!(line.matches("\"event\":").count(), 1, "{line}");
    }
}
