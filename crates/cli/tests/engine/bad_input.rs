//! Bad input: a clear error, a hint, code 2, and nothing changed.

use mw_testkit::{Home, SOON, children};

use crate::home;

/// Checks that a command is refused as bad input and changed nothing.
#[track_caller]
fn refused(args: &[&str]) {
    let home = home();
    let (command, rest) = args.split_first().unwrap();
    let outcome = home.mw([command, &"--json"].into_iter().chain(rest));
    let error = outcome.refusal(2);
    assert!(error["code"].is_string(), "{error}");
    assert_untouched(&home);
}

#[track_caller]
fn assert_untouched(home: &Home) {
    let tasks = home.state().join("tasks");
    let left = std::fs::read_dir(tasks).map_or(0, Iterator::count);
    assert_eq!(left, 0, "a task directory is left");
    assert_eq!(home.list().len(), 0, "a phantom task");
    assert_eq!(std::fs::read_dir(home.work()).unwrap().count(), 0, "something ran");
    home.wait_until_empty(SOON);
}

#[test]
fn an_empty_command_is_refused() {
    refused(&["start", ""]);
    refused(&["start", "  \t\n "]);
    refused(&["start"]);
    refused(&["start", "--"]);
    refused(&["start", "--", ""]);
    refused(&["run", ""]);
}

#[test]
fn unbalanced_quotes_are_refused() {
    refused(&["start", "touch ran; echo 'x"]);
    refused(&["start", "touch ran; echo \"x"]);
    refused(&["start", "echo 'x"]);
    refused(&["run", "touch ran; echo 'it's'"]);
}

#[test]
fn balanced_quotes_are_accepted() {
    let home = home();
    let id = home.start("echo 'it'\\''s' \"a 'b\" \\' # don't\ncat <<'E'\nisn't\nE\n");
    home.ended(&id);
    assert_eq!(home.log(&id), b"it's a 'b '\nisn't\n");
}

#[test]
fn invalid_durations_are_refused() {
    for bad in ["soon", "-5s", "5 parsecs", "", "1e999", "99999999999999999999d"] {
        refused(&["start", &format!("--timeout={bad}"), "touch ran"]);
        refused(&["start", &format!("--deadline={bad}"), "touch ran"]);
    }
    refused(&["run", "--detach-after=x", "touch ran"]);
    // A deadline beyond the range of records.
    refused(&["start", "--deadline", "99999999d", "touch ran"]);
}

#[test]
fn an_error_message_is_complete_and_has_no_usage() {
    let home = home();
    for (args, words) in [
        (vec!["start", "--json"], "COMMAND"),
        (vec!["start", "--json", "--kind", "foo", "true"], "remote"),
        (vec!["start", "--json", "--cap", "-1", "true"], "--cap"),
        (vec!["start", "--json", "--pids", "-3", "true"], "--pids"),
        (vec!["output", "--json", "x", "--tail", "-1"], "--tail"),
    ] {
        let refusal = home.mw(&args).refusal(2);
        let message = refusal["message"].as_str().unwrap();
        assert!(message.contains(words) && !message.contains("Usage"), "{args:?}: {message}");
        assert!(!message.contains("-- -"), "{args:?}: {message}");
    }
}

#[test]
fn invalid_sizes_and_counts_are_refused() {
    refused(&["start", "--cap=-1", "touch ran"]);
    refused(&["start", "--cap=lots", "touch ran"]);
    refused(&["list", "--limit=-3"]);
    refused(&["list", "--limit=x"]);
    refused(&["start", "--priority=high", "touch ran"]);
}

#[test]
fn malformed_environment_entries_are_refused() {
    refused(&["start", "--env", "NOVALUE", "touch ran"]);
    refused(&["start", "--env", "=x", "touch ran"]);
    refused(&["start", "--env", "", "touch ran"]);
}

#[test]
fn invalid_terminal_sizes_are_refused() {
    for bad in ["big", "80", "80x", "0x0", "-1x5", "99999x99999"] {
        refused(&["start", "--pty", &format!("--size={bad}"), "touch ran"]);
    }
}

#[test]
fn unknown_options_and_values_are_refused() {
    refused(&["start", "--lifetime", "forever", "touch ran"]);
    refused(&["start", "--at-capacity", "explode", "touch ran"]);
    refused(&["start", "--name", "x", "--if-running", "explode", "touch ran"]);
    refused(&["start", "--kind", "mystery", "touch ran"]);
    refused(&["start", "--no-such-option", "touch ran"]);
    refused(&["list", "--status", "asleep"]);
    refused(&["list", "--kind", "mystery"]);
    refused(&["dance"]);
}

#[test]
fn an_empty_name_is_refused() {
    refused(&["start", "--name", "", "touch ran"]);
}

#[test]
fn invalid_options_of_output_wait_kill_and_clear_are_refused() {
    let home = home();
    let id = home.start(children::SLEEPER);
    let commands: [&[&str]; 15] = [
        &["output", &id, "--tail", "-1"],
        &["output", &id, "--offset", "x"],
        &["output", &id, "--stream", "stdfoo"],
        &["output", &id, "--grep", "("],
        &["output", &id, "--max-bytes", "-1"],
        &["output", &id, "--tail", "1", "--offset", "1"],
        &["wait", &id, "--until", "nonsense"],
        &["wait", &id, "--until", "match=("],
        &["wait", &id, "--until", "port=99999"],
        &["wait", &id, "--until", "port=x"],
        &["wait", &id, "--until", "silence=x"],
        &["wait", &id, "--timeout", "x"],
        &["kill", &id, "--signal", "BOGUS"],
        &["kill", &id, "--grace", "x"],
        &["clear", "--older-than", "x"],
    ];
    for args in commands {
        let (command, rest) = args.split_first().unwrap();
        let _ = home.mw([command, &"--json"].into_iter().chain(rest)).refusal(2);
    }
    assert_eq!(home.status(&id)["status"], "running");
}

#[test]
fn a_missing_task_argument_is_refused() {
    for command in ["kill", "input", "restart"] {
        refused(&[command]);
    }
    let home = home();
    for command in ["status", "output", "tail", "wait", "attach"] {
        let said = home.mw([command]).exits(5).stderr_text();
        assert!(said.starts_with("error: no task was started in "), "{said}");
    }
}

#[test]
fn mw_without_arguments_shows_usage() {
    let home = home();
    let outcome = home.mw([""; 0]).exits(2);
    assert!(outcome.stderr_text().contains("Usage: mw COMMAND [OPTIONS]"), "{outcome}");
    assert!(outcome.stderr_text().contains("\n  start "), "{outcome}");
    assert_eq!(outcome.text(), "", "{outcome}");
}

#[test]
fn errors_in_text_form_are_on_stderr_only() {
    let home = home();
    for (args, code) in [(vec!["status", "bash-zzzzzzzz"], 5), (vec!["start", ""], 2)] {
        let outcome = home.mw(args).exits(code);
        assert_eq!(outcome.text(), "", "{outcome}");
        assert!(!outcome.stderr_text().trim().is_empty(), "{outcome}");
        assert!(!outcome.stderr_text().contains("panicked"), "{outcome}");
    }
}
