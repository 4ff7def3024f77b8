//! `--ready-when`: a task is ready when a line matches, without any waiting command.

use std::fs;

use mw_model::wire::JOURNAL_FILE;
use mw_testkit::{Home, SOON, alive, children, wait_until};
use serde_json::Value;

use crate::home;

/// Prints a line when a gate opens, and then sleeps.
fn server(line: &str) -> String {
    format!("echo booting; {}; printf '{line}\\n'; exec sleep 600", children::gate("go"))
}

fn events(home: &Home, id: &str, kind: &str) -> Vec<Value> {
    let mut events = home.mw(["watch", "--no-follow", "--task", id]).exits(0).json_lines();
    events.retain(|event| event["event"] == kind);
    events
}

/// Waits until the supervisor has recorded the readiness; no command runs meanwhile.
fn until_ready_on_disk(home: &Home, id: &str) {
    wait_until(SOON, &format!("{id} is ready"), || {
        let journal = fs::read_to_string(home.task_dir(id).join(JOURNAL_FILE)).unwrap_or_default();
        journal.contains("\"entry\":\"ready\"").then_some(())
    });
}

#[test]
fn a_matching_line_makes_a_task_ready_without_a_command() {
    let home = home();
    let id = home.start_with(&["--ready-when", "listening on [0-9]+"], &server("now listening on 80"));
    assert!(home.status(&id)["ready"].is_null());
    home.open("go");
    until_ready_on_disk(&home, &id);
    let task = home.status(&id);
    assert_eq!(task["status"], "running", "{task}");
    let found = events(&home, &id, "ready");
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0]["what"], "now listening on 80");
    assert_eq!(task["ready"], found[0]["at"], "{task}");
    assert_eq!(home.list()[0]["ready"], task["ready"]);
}

#[test]
fn status_as_text_shows_readiness() {
    let home = home();
    let id = home.start_with(&["--ready-when", "up"], &server("up"));
    home.open("go");
    let _ = home.mw(["wait", &id, "--until", "ready"]).exits(0);
    assert!(home.mw(["list"]).ok().contains("running (ready)"));
    let ready = home.status(&id)["ready"].as_str().unwrap().to_owned();
    assert!(home.mw(["status", &id]).ok().contains(&format!("ready      {}Z", &ready[..19])));
}

#[test]
fn a_wait_for_readiness_ends_with_it() {
    let home = home();
    let id = home.start_with(&["--ready-when", "up"], &server("up"));
    let waiting = home.command(["wait", "--json", &id, "--until", "ready"]).spawn();
    home.until_logged(&id, "booting");
    assert!(waiting.runs());
    home.open("go");
    let answer = waiting.wait().exits(0).json();
    assert_eq!(answer["met"], serde_json::json!([id]), "{answer}");
    assert!(answer["tasks"][0]["ready"].is_string(), "{answer}");
    assert_eq!(home.status(&id)["status"], "running");
    let _ = home.mw(["wait", &id, "--until", "ready"]).exits(0);
}

#[test]
fn a_watch_shows_readiness_at_once() {
    let home = home();
    let id = home.start_with(&["--ready-when", "up"], &server("up"));
    let watching = home.command(["watch", "--from", "0"]).env("MEANWHILE_WAIT_FALLBACK_MS", "60000").spawn();
    wait_until(SOON, "the watcher listens", || {
        watching.json_lines().iter().any(|event| event["event"] == "started").then_some(())
    });
    home.open("go");
    let event = wait_until(SOON, "the watcher shows the readiness", || {
        watching.json_lines().into_iter().find(|event| event["event"] == "ready")
    });
    assert_eq!(event["task"], id, "{event}");
}

#[test]
fn readiness_is_notified_once() {
    let home = home();
    let args = ["start", "--json", "--ready-when", "up", &server("up")];
    let id = home.command(args).session("s").run().exits(0).json()["id"].as_str().unwrap().to_owned();
    home.open("go");
    until_ready_on_disk(&home, &id);
    let delivered = home.mw(["notices", "--json", "--session", "s"]).exits(0).json()["notices"].clone();
    assert_eq!(delivered.as_array().map(Vec::len), Some(1), "{delivered}");
    assert_eq!(
        (&delivered[0]["task"], &delivered[0]["status"]),
        (&id.into(), &"ready".into()),
        "{delivered}"
    );
    let delivered = home.mw(["notices", "--json", "--session", "s"]).exits(0).json();
    assert_eq!(delivered["notices"], serde_json::json!([]), "{delivered}");
}

#[test]
fn a_coloured_line_is_matched() {
    let home = home();
    let id = home.start_with(
        &["--ready-when", "^ready in 5 ms$"],
        &server("\\033[32mready\\033[0m in \\033[1m5\\033[0m ms"),
    );
    home.open("go");
    let _ = home.mw(["wait", &id, "--until", "ready"]).exits(0);
}

#[test]
fn a_task_that_ends_before_readiness_is_never_ready() {
    let home = home();
    let id = home.start_with(&["--ready-when", "up"], &children::gated("go", 0));
    let waiting = home.command(["wait", "--json", &id, "--until", "ready"]).spawn();
    home.open("go");
    let answer = waiting.wait().exits(8).json();
    assert_eq!(answer["met"], serde_json::json!([]), "{answer}");
    assert_eq!(home.ended(&id)["ready"], Value::Null);
    assert_eq!(events(&home, &id, "ready").len(), 0);
    let _ = home.mw(["wait", &id, "--until", "ready"]).exits(8);
}

#[test]
fn output_of_survivors_does_not_make_a_task_ready() {
    let home = home();
    let script = format!("({}; echo up; touch printed; exec sleep 600) & exit 0", children::gate("go"));
    let id = home.start_with(&["--ready-when", "up"], &script);
    home.ended(&id);
    home.open("go");
    home.file("printed");
    home.until_logged(&id, "up");
    assert_eq!(home.status(&id)["ready"], Value::Null);
}

#[test]
fn an_ended_task_keeps_its_readiness() {
    let home = home();
    let script = format!("echo up; {}; exit 3", children::gate("go"));
    let id = home.start_with(&["--ready-when", "up"], &script);
    let _ = home.mw(["wait", &id, "--until", "ready"]).exits(0);
    let ready = home.status(&id)["ready"].clone();
    home.open("go");
    assert_eq!(home.ended(&id)["ready"], ready);
    let _ = home.mw(["wait", &id, "--until", "ready"]).exits(0);
}

#[test]
fn each_run_has_its_own_readiness() {
    let home = home();
    let id = home.start_with(&["--ready-when", "up"], &server("up"));
    home.open("go");
    let _ = home.mw(["wait", &id, "--until", "ready"]).exits(0);
    fs::remove_file(home.work().join("go")).unwrap();
    let _ = home.mw(["restart", &id]).ok();
    assert!(home.status(&id)["ready"].is_null());
    home.open("go");
    let _ = home.mw(["wait", &id, "--until", "ready"]).exits(0);
    let runs: Vec<_> = events(&home, &id, "ready").iter().map(|event| event["run"].as_u64()).collect();
    assert_eq!(runs, [Some(1), Some(2)]);
}

#[test]
fn a_queued_task_becomes_ready_after_its_start() {
    let home = home().with_env("MEANWHILE_QUEUE_MAX_RUNNING", "1");
    let _first = home.start(&children::gated("first", 0));
    let id = home.start_with(&["--ready-when", "up"], &server("up"));
    let waiting = home.command(["wait", &id, "--until", "ready"]).spawn();
    home.open("go");
    home.open("first");
    let _ = waiting.wait().exits(0);
}

#[test]
fn the_readiness_helper_is_not_part_of_the_task() {
    let home = home().with_env("MEANWHILE_QUEUE_MAX_RUNNING", "1");
    let id = home.start_with(&["--ready-when", "never"], children::SLEEPER);
    let next = home.start("touch next");
    let helper = home.helper(&id);
    let receipt = home.mw(["kill", "--json", &id]).exits(0).json();
    assert_eq!(receipt["killed"].as_array().map(Vec::len), Some(1), "{receipt}");
    assert_eq!(receipt["survivors"], serde_json::json!([]), "{receipt}");
    home.file("next");
    home.until_dead(helper);
    home.ended(&next);
    home.wait_until_empty(SOON);
}

#[test]
fn the_readiness_helper_ends_with_the_task_or_its_readiness() {
    let home = home();
    let id = home.start_with(&["--ready-when", "up"], &server("up"));
    let helper = home.helper(&id);
    assert!(alive(helper));
    home.open("go");
    home.until_dead(helper);
    assert_eq!(home.helpers_of(&id), [0; 0]);
    let other = home.start_with(&["--ready-when", "never"], &children::gated("end", 0));
    let helper = home.helper(&other);
    home.open("end");
    let task = home.ended(&other);
    assert_eq!((&task["status"], &task["survivors"]), (&"completed".into(), &0.into()), "{task}");
    home.until_dead(helper);
}

#[test]
fn a_task_without_a_readiness_condition_has_no_helper() {
    let home = home();
    let id = home.start(children::SLEEPER);
    let _ = home.pair(&id);
    wait_until(SOON, "the supervisor is set up", || {
        home.task_dir(&id).join("control").exists().then_some(())
    });
    assert_eq!(home.tagged().len(), 3, "{:?}", home.tagged());
    assert!(!home.task_dir(&id).join("progress").exists());
    assert!(home.status(&id)["ready"].is_null());
    let refusal = home.mw(["wait", "--json", &id, "--until", "ready"]).refusal(6);
    assert!(refusal["hint"].to_string().contains("--ready-when"), "{refusal}");
}

#[test]
fn an_invalid_readiness_condition_is_refused_without_a_task() {
    let home = home();
    for options in
        [["--ready-when", "("], ["--ready-port", "0"], ["--ready-port", "70000"], ["--ready-port", "x"]]
    {
        let args = ["start", "--json"].iter().chain(&options).chain(&["touch ran"]);
        let _ = home.mw(args).refusal(2);
    }
    let both = ["start", "--json", "--ready-when", "a", "--ready-port", "any", "touch ran"];
    let _ = home.mw(both).refusal(2);
    assert_eq!(home.list().len(), 0);
    assert!(!home.has_file("ran"));
    assert_eq!(fs::read_dir(home.state().join("tasks")).unwrap().count(), 0);
}
