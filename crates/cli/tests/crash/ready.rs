//! Readiness is detected after its helper or a supervisor was killed.

use mw_testkit::{Home, SOON, children, wait_until};

use crate::home;

/// Becomes ready when a gate opens.
fn start(home: &Home) -> String {
    let script = format!("echo booting; {}; echo up; exec sleep 600", children::gate("go"));
    home.start_with(&["--ready-when", "up"], &script)
}

/// Waits for readiness, and checks that it was recorded once.
fn becomes_ready(home: &Home, id: &str) {
    home.open("go");
    let _ = home.mw(["wait", id, "--until", "ready", "--timeout", "80s"]).exits(0);
    let task = home.status(id);
    assert_eq!(task["status"], "running", "{task}");
    assert!(task["ready"].is_string(), "{task}");
    let events = home.mw(["watch", "--no-follow", "--task", id]).exits(0).json_lines();
    assert_eq!(events.iter().filter(|event| event["event"] == "ready").count(), 1, "{events:?}");
    wait_until(SOON, "no helper is left", || home.helpers_of(id).is_empty().then_some(()));
    let receipt = home.mw(["kill", "--json", id]).exits(0).json();
    assert_eq!(receipt["killed"].as_array().map(Vec::len), Some(1), "{receipt}");
    home.wait_until_empty(SOON);
}

#[test]
fn a_killed_readiness_helper_is_replaced() {
    let home = home();
    let id = start(&home);
    let first = home.helper(&id);
    home.kill_process(first);
    becomes_ready(&home, &id);
}

#[test]
fn the_guardian_continues_the_readiness_check() {
    let home = home();
    let id = start(&home);
    let helper = home.helper(&id);
    home.kill_process(home.pair(&id).supervisor);
    // It ends because its connection is closed.
    home.until_dead(helper);
    becomes_ready(&home, &id);
}

#[test]
fn readiness_is_detected_after_the_guardian_was_killed() {
    let home = home();
    let id = start(&home);
    let helper = home.helper(&id);
    home.kill_process(home.pair(&id).guardian);
    assert_eq!(home.helpers_of(&id), [helper]);
    becomes_ready(&home, &id);
}

#[test]
fn readiness_is_not_reported_again_after_a_takeover() {
    let home = home();
    let id = start(&home);
    home.open("go");
    let _ = home.mw(["wait", &id, "--until", "ready"]).exits(0);
    let ready = home.status(&id)["ready"].clone();
    home.kill_process(home.pair(&id).supervisor);
    assert_eq!(home.status(&id)["ready"], ready);
    becomes_ready(&home, &id);
}

#[test]
fn a_readiness_helper_ends_with_both_supervisors() {
    let home = home();
    let id = start(&home);
    let helper = home.helper(&id);
    home.kill_supervisors(&id);
    home.until_dead(helper);
    // The next command starts an adopting supervisor, which continues the check.
    let _ = home.mw(["list", "--json"]).ok();
    becomes_ready(&home, &id);
}

#[test]
fn an_orphaned_readiness_helper_is_no_survivor() {
    let home = home();
    let id = home.start_with(&["--ready-when", "never"], &children::gated("go", 4));
    let _ = home.helper(&id);
    home.kill_process(home.pair(&id).supervisor);
    home.open("go");
    let task = home.ended(&id);
    assert_eq!((&task["exit_code"], &task["survivors"]), (&4.into(), &0.into()), "{task}");
    assert!(task["ready"].is_null(), "{task}");
    home.wait_until_empty(SOON);
}
