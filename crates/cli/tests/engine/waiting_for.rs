//! Status shows what a task waits for: dependencies or input.

use mw_testkit::{SOON, children, wait_until};

use crate::home;

#[test]
fn a_queued_task_names_its_dependency_everywhere() {
    let home = home();
    let build = home.start_with(&["--name", "build"], children::SLEEPER);
    let started = home.mw(["start", "--after", "build", "--name", "test", "true"]).ok();
    assert!(started.starts_with("queued test ("), "{started}");
    assert!(started.contains("), after build\n"), "{started}");
    let task = home.status("test");
    assert_eq!(task["after"], serde_json::json!([build]));
    assert_eq!((&task["waiting_for"], &task["status"]), (&"build".into(), &"pending".into()));
    assert!(home.mw(["list"]).ok().contains("queued, after build"));
    let status = home.mw(["status", "test"]).ok();
    assert!(status.contains("build to complete") && status.contains(&build), "{status}");
    let said = home.mw(["output", "test"]).exits(0);
    assert_eq!(said.stderr_text().trim(), "mw: test has not started yet: queued, after build");
    let _ = home.mw(["kill", "build"]).exits(0);
    let skipped = home.ended("test");
    let cause = skipped["cause"].as_str().unwrap();
    assert!(cause.starts_with(&format!("skipped: build ({build}) did not complete")), "{cause}");
    assert!(skipped["waiting_for"].is_null(), "{skipped}");
}

#[test]
fn a_task_waiting_for_input_is_shown_as_such() {
    let home = home().with_env("MEANWHILE_STALL_MS", "200");
    let works = home.start_with(&["--name", "works"], children::SLEEPER);
    let asks = home.start_with(
        &["--name", "asks", "--stdin"],
        "printf 'Continue? (y/n) '; read a; echo; exec sleep 600",
    );
    wait_until(SOON, "the stall is reported", || home.status(&asks)["stalled"].as_str().map(|_| ()));
    assert_eq!(home.status(&asks)["waiting_for"], "Continue? (y/n)");
    assert!(home.status(&works)["stalled"].is_null());
    let list = home.mw(["list"]).ok();
    let line = |id: &str| list.lines().position(|line| line.contains(id)).unwrap();
    assert!(line(&asks) < line(&works), "the newest task comes first: {list}");
    let newest = home.mw(["list", "--limit", "1"]).ok();
    assert!(newest.contains(&asks), "{newest}");
    let row = list.lines().nth(line(&asks)).unwrap();
    assert!(row.starts_with('!') && row.contains("waiting for input"), "{row}");
    let terminal = crate::top::top(&home);
    crate::top::until_shown(&terminal, "input?");
    let _ = home.mw(["input", &asks, "y"]).exits(0);
    wait_until(SOON, "the task continues", || home.status(&asks)["stalled"].is_null().then_some(()));
}
