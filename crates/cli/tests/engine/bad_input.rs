//! Bad input: a clear error, a hint, code 2, and nothing changed.

use mw_testkit::{Home, SOON, children};

use crate::home;

/// Checks that a command is refused as bad input and that it left no trace.
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
fn a_command_must_not_be_empty() {
    refused(&["start", ""]);
    refused(&["start", "  \t\n "]);
    refused(&["start"]);
    refused(&["start", "--"]);
    refused(&["start", "--", ""]);
    refused(&["run", ""]);
}

#[test]
fn quotes_must_be_balanced() {
    refused(&["start", "touch ran; echo 'x"]);
    refused(&["start", "touch ran; echo \"x"]);
    refused(&["start", "echo 'x"]);
    refused(&["run", "touch ran; echo 'it's'"]);
}

#[test]
fn quotes_that_are_balanced_are_no_error() {
    let home = home();
    let id = home.start("echo 'it'\\''s' \"a 'b\" \\' # don't\ncat <<'E'\nisn't\nE\n");
    home.ended(&id);
    assert_eq!(home.log(&id), b"it's a 'b '\nisn't\n");
}

#[test]
fn durations_must_be_durations() {
    for bad in ["soon", "-5s", "5 parsecs", "", "1e999", "99999999999999999999d"] {
        refused(&["start", &format!("--timeout={bad}"), "touch ran"]);
        refused(&["start", &format!("--deadline={bad}"), "touch ran"]);
    }
    refused(&["run", "--detach-after=x", "touch ran"]);
    // A deadline beyond what records can tell.
    refused(&["start", "--deadline", "99999999d", "touch ran"]);
}

#[test]
fn a_refused_argument_is_named_with_all_that_was_said() {
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
fn sizes_and_counts_must_not_be_negative() {
    refused(&["start", "--cap=-1", "touch ran"]);
    refused(&["start", "--cap=lots", "touch ran"]);
    refused(&["list", "--limit=-3"]);
    refused(&["list", "--limit=x"]);
    refused(&["start", "--priority=high", "touch ran"]);
}

#[test]
fn environment_entries_must_have_names() {
    refused(&["start", "--env", "NOVALUE", "touch ran"]);
    refused(&["start", "--env", "=x", "touch ran"]);
    refused(&["start", "--env", "", "touch ran"]);
}

#[test]
fn terminal_sizes_must_be_sizes() {
    for bad in ["big", "80", "80x", "0x0", "-1x5", "99999x99999"] {
        refused(&["start", "--pty", &format!("--size={bad}"), "touch ran"]);
    }
}

#[test]
fn a_deadline_that_cannot_be_written_down_is_refused() {
    refused(&["start", "--deadline", "99999999d", "touch ran"]);
}

#[test]
fn words_must_be_known() {
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
fn a_name_must_not_be_empty() {
    refused(&["start", "--name", "", "touch ran"]);
}

#[test]
fn options_of_other_commands_are_checked_too() {
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
fn commands_that_need_a_task_say_so() {
    for command in ["status", "output", "wait", "kill", "input", "attach", "restart"] {
        refused(&[command]);
    }
}

#[test]
fn a_call_without_a_command_shows_how_to_use_it() {
    let home = home();
    let outcome = home.mw([""; 0]).exits(2);
    assert!(outcome.complaint().contains("start") || outcome.text().contains("start"), "{outcome}");
}

#[test]
fn errors_for_people_are_on_stderr_with_a_next_step() {
    let home = home();
    for (args, code) in [(vec!["status", "bash-zzzzzzzz"], 5), (vec!["start", ""], 2)] {
        let outcome = home.mw(args).exits(code);
        assert_eq!(outcome.text(), "", "{outcome}");
        assert!(!outcome.complaint().trim().is_empty(), "{outcome}");
        assert!(!outcome.complaint().contains("panicked"), "{outcome}");
    }
}
