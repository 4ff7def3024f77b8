//! Backends (`--on`).

use serde_json::json;

use crate::home;

#[test]
fn a_mock_task_executes_nothing_and_exits_with_the_code_of_its_input() {
    let home = home();
    let command = format!("touch {}", home.work().join("made").display());
    let id = home.start_with(&["--on", "mock"], &command);
    assert_eq!(home.status(&id)["status"], "running");
    home.command(["input", &id, "one"]).run().ok();
    home.command(["input", &id, "exit 7"]).run().ok();
    assert_eq!(home.command(["wait", &id]).run().code, Some(7));
    let status = home.status(&id);
    assert_eq!((&status["status"], &status["exit_code"]), (&json!("failed"), &json!(7)));
    assert_eq!(status["place"], "mock");
    let shown = home.mw(["status", &id]).ok();
    assert!(shown.lines().any(|line| line.split_whitespace().eq(["place", "mock"])), "{shown}");
    assert_eq!(home.command(["output", &id]).run().ok(), "one\n");
    assert!(!home.work().join("made").exists(), "the command was executed");
}

#[test]
fn a_mock_task_ends_at_the_end_of_its_input_or_by_a_kill() {
    let home = home();
    let start = || home.start_with(&["--on", "mock"], "anything");
    let by_end_of_input = start();
    home.command(["input", "--eof", &by_end_of_input]).run().ok();
    assert_eq!(home.command(["wait", &by_end_of_input]).run().code, Some(0));
    let killed = start();
    home.command(["kill", &killed]).run().ok();
    assert_eq!(home.status(&killed)["status"], "cancelled");
}

#[test]
fn a_restart_uses_the_same_backend() {
    let home = home();
    let id = home.start_with(&["--on", "mock"], "anything");
    home.command(["input", &id, "exit 1"]).run().ok();
    let _ended = home.command(["wait", &id]).run().exits(1);
    home.command(["restart", &id]).run().ok();
    home.command(["input", &id, "exit 0"]).run().ok();
    assert_eq!(home.command(["wait", &id]).run().code, Some(0));
}

#[test]
fn options_that_a_backend_lacks_are_refused_without_a_task() {
    let home = home();
    let terminal = home.command(["start", "--on", "mock", "--pty", "x"]).run();
    assert!(terminal.code == Some(2) && terminal.stderr_text().contains("terminal"), "{terminal:?}");
    let limits = home.command(["start", "--on", "mock", "--memory", "64M", "x"]).run();
    assert!(limits.code == Some(2) && limits.stderr_text().contains("resource limits"), "{limits:?}");
    let unknown = home.command(["start", "--on", "moon", "x"]).run();
    assert!(unknown.code == Some(2) && unknown.stderr_text().contains("process, mock"), "{unknown:?}");
    assert!(home.list().is_empty());
}
