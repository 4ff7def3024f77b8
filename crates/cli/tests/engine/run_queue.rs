//! `mw run` without a free slot, and `mw run --json`.

use mw_testkit::contract::{TASK_FIELDS, has_fields};
use mw_testkit::{Home, Outcome, SOON, children, wait_until};
use rustix::process::Signal;
use serde_json::Value;

use crate::home;

/// A home with one slot, which is taken until the gate `go` opens.
fn busy() -> Home {
    let home = home().with_env("MEANWHILE_QUEUE_MAX_RUNNING", "1");
    let _ = home.start(&children::gated("go", 0));
    home
}

/// Waits until a task waits in the queue, and returns its id.
fn pending(home: &Home) -> String {
    wait_until(SOON, "a task is pending", || {
        let tasks = home.list();
        let found = tasks.iter().find(|task| task["status"] == "pending")?;
        Some(found["id"].as_str().unwrap().to_owned())
    })
}

/// Checks that stdout holds one task and nothing else, and returns it.
#[track_caller]
fn only_task(outcome: &Outcome) -> Value {
    let task = outcome.json();
    has_fields(&task, &TASK_FIELDS);
    has_fields(&task, &["output"]);
    assert_eq!(outcome.text().trim_end().lines().count(), 1, "more than one line\n{outcome}");
    task
}

#[test]
fn a_run_takes_no_slot_and_waits_for_none() {
    let home = busy();
    for words in [&["run", "echo out; exit 7"][..], &["run", "--name", "hi", "echo out; exit 7"]] {
        let outcome = home.mw(words).exits(7);
        assert_eq!((outcome.text(), outcome.stderr_text()), ("out\n".to_owned(), String::new()));
    }
    let queued = home.start("true");
    let running = home.command(["run", &children::gated("end", 0)]).spawn();
    wait_until(SOON, "the command runs", || (running.printed() == "waiting\n").then_some(()));
    home.open("go");
    assert_eq!(
        home.ended(&queued)["status"],
        "completed",
        "the slot is free while a command runs in the foreground"
    );
    home.open("end");
    let _ = running.wait().exits(0);
}

#[test]
fn another_run_of_a_foreground_command_takes_a_slot() {
    let home = busy();
    let _ = home.mw(["run", "--name", "hi", "true"]).exits(0);
    assert_eq!(home.mw(["restart", "--json", "hi"]).exits(0).json()["status"], "pending");
    home.open("go");
    assert_eq!(home.ended("hi")["status"], "completed");
}

#[test]
fn run_starts_when_a_slot_is_free_and_exits_with_the_code() {
    let home = busy();
    let running = home.command(["run", "--at-capacity", "queue", "echo out; echo err >&2; exit 7"]).spawn();
    pending(&home);
    assert!(running.runs());
    assert_eq!(running.printed(), "");
    home.open("go");
    let outcome = running.wait().exits(7);
    assert_eq!(outcome.text(), "out\n");
    assert!(outcome.stderr_text().contains("err\n"), "{outcome}");
}

#[test]
fn run_waits_for_its_dependency() {
    let home = home();
    let first = home.start(&children::gated("go", 0));
    let running = home.command(["run", "--after", &first, "echo out; exit 4"]).spawn();
    pending(&home);
    home.open("go");
    assert_eq!(running.wait().exits(4).text(), "out\n");
}

#[test]
fn a_skipped_run_fails() {
    let home = home();
    let first = home.start(&children::gated("go", 1));
    let running = home.command(["run", "--after", &first, "touch ran"]).spawn();
    pending(&home);
    home.open("go");
    let outcome = running.wait();
    assert!(outcome.code.is_some_and(|code| code != 0), "{outcome}");
    assert!(outcome.stderr_text().contains("skipped"), "{outcome}");
    assert!(!home.has_file("ran"));
}

#[test]
fn a_run_whose_deadline_passes_in_the_queue_times_out() {
    let home = busy();
    let _ = home.mw(["run", "--at-capacity", "queue", "--deadline", "500ms", "touch ran"]).exits(124);
    assert!(!home.has_file("ran"));
}

#[test]
fn run_can_be_refused_instead_of_queued() {
    let home = busy();
    let _ = home.mw(["run", "--json", "--at-capacity", "reject", "touch ran"]).refusal(6);
    assert_eq!(home.list().len(), 1);
}

#[test]
fn an_interrupt_removes_a_queued_run() {
    let home = busy();
    let running = home.command(["run", "--at-capacity", "queue", "touch ran"]).spawn();
    let id = pending(&home);
    running.signal(Signal::INT);
    let outcome = running.wait();
    assert!(outcome.code.is_some_and(|code| code != 0), "{outcome}");
    let task = home.status(&id);
    assert_eq!(task["status"], "cancelled", "{task}");
    assert!(task["started_at"].is_null(), "{task}");
    assert!(!home.has_file("ran"));
}

#[test]
fn run_can_exit_and_leave_its_task_queued() {
    let home = busy();
    let outcome = home.mw(["run", "--at-capacity", "queue", "--detach-after", "300ms", "touch ran"]).exits(0);
    let id = pending(&home);
    assert!(outcome.stderr_text().contains(&id), "{outcome}");
    home.open("go");
    home.file("ran");
}

#[test]
fn run_in_json_prints_the_task_and_nothing_else() {
    let home = home();
    let outcome = home.mw(["run", "--json", "echo out; echo err >&2; exit 3"]).exits(3);
    let task = only_task(&outcome);
    assert_eq!((&task["status"], &task["exit_code"]), (&"failed".into(), &3.into()), "{task}");
    assert_eq!(task["output_bytes"], 8, "{task}");
    let output = task["output"].as_str().unwrap();
    assert!(output.contains("out\n") && output.contains("err"), "{task}");
    let mut shown = home.status(task["id"].as_str().unwrap());
    // Both commands print the same record.
    shown["duration_ms"] = task["duration_ms"].clone();
    assert_eq!(task, shown);
}

#[test]
fn a_successful_run_in_json_exits_with_0() {
    let home = home();
    let task = only_task(&home.mw(["run", "--json", "echo out"]).exits(0));
    assert_eq!((&task["status"], &task["exit_code"]), (&"completed".into(), &0.into()), "{task}");
    assert_eq!(task["output"], "out\n", "{task}");
}

#[test]
fn run_in_json_prints_nothing_while_queued() {
    let home = busy();
    let running = home.command(["run", "--at-capacity", "queue", "--json", "echo out; exit 6"]).spawn();
    pending(&home);
    assert_eq!(running.printed(), "");
    home.open("go");
    let task = only_task(&running.wait().exits(6));
    assert_eq!(task["exit_code"], 6, "{task}");
}

#[test]
fn run_in_json_reports_a_time_limit_and_a_signal() {
    let home = home();
    let task = only_task(&home.mw(["run", "--json", "--timeout", "300ms", children::SLEEPER]).exits(124));
    assert_eq!(task["status"], "timed_out", "{task}");
    let task = only_task(&home.mw(["run", "--json", "kill -KILL $$"]).exits(137));
    assert!(task["exit_code"].is_null(), "{task}");
    assert_eq!(task["status"], "failed", "{task}");
}

#[test]
fn run_in_json_prints_the_running_task_when_it_detaches() {
    let home = home();
    let script = children::gated("go", 5);
    let outcome = home.mw(["run", "--json", "--detach-after", "500ms", &script]).exits(0);
    let task = only_task(&outcome);
    assert_eq!(task["status"], "running", "{task}");
    home.open("go");
    assert_eq!(home.ended(task["id"].as_str().unwrap())["exit_code"], 5);
}
