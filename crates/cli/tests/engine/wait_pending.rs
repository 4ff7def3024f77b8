//! Waiting for tasks that are not running yet.

use std::time::{Duration, Instant};

use mw_testkit::{Home, SOON, children, wait_until};

use crate::home;

/// The delay allowed on a loaded machine when only a timer wakes a wait.
const A_FEW_SECONDS: Duration = Duration::from_secs(40);

/// Creates a home with one slot, which is taken.
fn busy() -> (Home, String) {
    let home = home().with_env("MEANWHILE_QUEUE_MAX_RUNNING", "1");
    let holder = home.start(&children::gated("go", 0));
    (home, holder)
}

#[test]
fn a_wait_for_a_queued_task_ends_with_its_deadline() {
    let (home, _holder) = busy();
    let begun = Instant::now();
    let id = home.start_with(&["--deadline", "700ms"], "touch ran");
    let answer = home.mw(["wait", "--json", &id]).exits(124).json();
    assert!(begun.elapsed() < A_FEW_SECONDS, "it took {:?}", begun.elapsed());
    assert_eq!(answer["timed_out"], false, "the wait itself had no limit: {answer}");
    assert_eq!(answer["tasks"][0]["status"], "timed_out", "{answer}");
    assert_eq!(answer["met"], serde_json::json!([id]), "{answer}");
    assert!(!home.has_file("ran"));
}

#[test]
fn a_wait_for_a_task_with_a_dependency_ends_with_its_deadline() {
    let home = home();
    let first = home.start(children::SLEEPER);
    let begun = Instant::now();
    let id = home.start_with(&["--after", &first, "--deadline", "700ms"], "touch ran");
    let _ = home.mw(["wait", &id]).exits(124);
    assert!(begun.elapsed() < A_FEW_SECONDS, "it took {:?}", begun.elapsed());
    assert_eq!(home.status(&id)["status"], "timed_out");
    assert!(!home.has_file("ran"));
}

#[test]
fn a_wait_for_any_ends_with_the_first_deadline() {
    let (home, holder) = busy();
    let begun = Instant::now();
    let id = home.start_with(&["--deadline", "700ms"], "true");
    let answer = home.mw(["wait", "--json", "--any", &holder, &id]).exits(124).json();
    assert!(begun.elapsed() < A_FEW_SECONDS, "it took {:?}", begun.elapsed());
    assert_eq!(answer["met"], serde_json::json!([id]), "{answer}");
    assert_eq!(home.status(&holder)["status"], "running");
}

#[test]
fn a_wait_on_a_terminal_ends_with_the_deadline() {
    let (home, _holder) = busy();
    let begun = Instant::now();
    let id = home.start_with(&["--deadline", "700ms"], "true");
    assert_eq!(home.command(["wait", &id]).on_terminal().wait(), Some(124));
    assert!(begun.elapsed() < A_FEW_SECONDS, "it took {:?}", begun.elapsed());
}

#[test]
fn a_wait_for_a_port_ends_with_the_deadline() {
    let (home, _holder) = busy();
    let begun = Instant::now();
    let id = home.start_with(&["--deadline", "700ms"], "true");
    // Port 1 has no listener.
    let _ = home.mw(["wait", &id, "--until", "port=1"]).exits(8);
    assert!(begun.elapsed() < A_FEW_SECONDS, "it took {:?}", begun.elapsed());
}

#[test]
fn following_a_queued_task_ends_with_its_deadline() {
    let (home, _holder) = busy();
    let begun = Instant::now();
    let id = home.start_with(&["--deadline", "700ms"], "true");
    assert_eq!(home.mw(["output", &id, "--follow"]).ok(), "");
    assert!(begun.elapsed() < A_FEW_SECONDS, "it took {:?}", begun.elapsed());
}

#[test]
fn the_timeout_of_a_wait_applies_before_a_later_deadline() {
    let (home, _holder) = busy();
    let id = home.start_with(&["--deadline", "1h"], "true");
    let answer = home.mw(["wait", "--json", &id, "--timeout", "300ms"]).exits(124).json();
    assert_eq!(answer["timed_out"], true, "{answer}");
    assert_eq!(answer["tasks"][0]["status"], "pending", "{answer}");
    assert_eq!(answer["tasks"][0]["queue_position"], 1, "{answer}");
}

#[test]
fn a_wait_for_a_queued_task_ends_when_it_is_cancelled() {
    let (home, _holder) = busy();
    let id = home.start("touch ran");
    let waiting = home.command(["wait", "--json", &id]).spawn();
    let _ = home.mw(["kill", &id]).ok();
    let outcome = waiting.wait();
    assert_ne!(outcome.code, Some(0), "{outcome}");
    assert_eq!(outcome.json()["tasks"][0]["status"], "cancelled", "{outcome}");
}

#[test]
fn a_wait_for_a_skipped_task_ends_with_its_dependency() {
    let home = home();
    let first = home.start(&children::gated("go", 5));
    let second = home.start_with(&["--after", &first], "touch ran");
    let waiting = home.command(["wait", "--json", &second]).spawn();
    home.open("go");
    let outcome = waiting.wait();
    assert_ne!(outcome.code, Some(0), "{outcome}");
    assert_eq!(outcome.json()["tasks"][0]["status"], "cancelled", "{outcome}");
    assert!(!home.has_file("ran"));
}

#[test]
fn a_wait_for_a_pattern_continues_after_the_queue() {
    let (home, _holder) = busy();
    let id = home.start("echo ready; exec sleep 600");
    let waiting = home.command(["wait", &id, "--until", "match=ready"]).spawn();
    wait_until(SOON, "the task is pending", || (home.status(&id)["status"] == "pending").then_some(()));
    home.open("go");
    let _ = waiting.wait().exits(0);
    assert_eq!(home.status(&id)["status"], "running");
}
