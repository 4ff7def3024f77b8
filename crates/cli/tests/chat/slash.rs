//! Commands to the chat itself, with the names of co-cli's tests (C-101).

use mw_testkit::model_endpoint::ModelEndpoint;
use mw_testkit::wait_until;

use super::*;

fn table(endpoint: &ModelEndpoint) -> Home {
    home(endpoint).with_env("MEANWHILE_CHAT_LAYOUT", "table").with_env("MEANWHILE_CHAT_AUTO_WAKE", "false")
}

/// Opens a chat with the co-cli dialect.
fn chat(home: &Home) -> Terminal {
    chat_with(home, &["chat", "--dialect", "co-cli"])
}

fn only(home: &Home) -> serde_json::Value {
    wait_until(SOON, "the task", || home.list().into_iter().next())
}

#[test]
fn test_slash_background() {
    let endpoint = ModelEndpoint::new();
    let home = table(&endpoint);
    let mut terminal = chat(&home);
    terminal.resize(140, 30);
    say(&mut terminal, "/background sleep 600");
    let screen = until_shown(&terminal, "Started background task task_");
    assert!(screen.text.contains("Use /status task_"), "{}", screen.text);
    assert_eq!(only(&home)["command"], "sleep 600");
    assert_eq!(endpoint.requests().len(), 0, "nothing is sent to the model");
}

/// C-075: split as by a shell, but executed without one.
#[test]
fn a_co_cli_command_is_split_into_arguments() {
    let endpoint = ModelEndpoint::new();
    let home = table(&endpoint);
    let mut terminal = chat(&home);
    terminal.resize(140, 40);
    say(&mut terminal, "/background echo 'a  b' | cat");
    until_shown(&terminal, "Started background task task_");
    let id = only(&home)["id"].as_str().unwrap().to_owned();
    home.until_logged(&id, "a  b | cat\n");
    let spec = std::fs::read_to_string(home.task_dir(&id).join("spec.json")).unwrap();
    let spec: serde_json::Value = serde_json::from_str(&spec).unwrap();
    assert_eq!(spec["command"]["argv"], serde_json::json!(["echo", "a  b", "|", "cat"]), "{spec}");
    say(&mut terminal, "/background echo \"open");
    until_shown(&terminal, "command has an unclosed quote");
    assert_eq!(home.list().len(), 1);
    leave(terminal);
}

/// A quick task ends before its start is shown; its banner waits for that line.
#[test]
fn the_start_of_a_task_is_shown_before_its_end() {
    let endpoint = ModelEndpoint::new();
    let home = home(&endpoint).with_env("MEANWHILE_CHAT_AUTO_WAKE", "false");
    let mut terminal = chat_with(&home, &["chat", "--dialect", "zidane"]);
    terminal.resize(140, 50);
    for number in 1..=8 {
        say(&mut terminal, "/background true");
        let banner = format!("⌁ bash_{number} exited");
        let screen = until_shown(&terminal, &banner);
        let started = screen.text.find(&format!("Started background task bash_{number}."));
        assert!(started < screen.text.find(&banner) && started.is_some(), "{}", screen.text);
    }
    leave(terminal);
}

#[test]
fn the_start_of_an_approved_task_is_shown_before_its_end() {
    let endpoint = ModelEndpoint::new();
    let home = home(&endpoint).with_env("MEANWHILE_CHAT_AUTO_WAKE", "false").gated();
    let mut terminal = chat_with(&home, &["chat", "--dialect", "zidane"]);
    terminal.resize(140, 50);
    for number in 1..=4 {
        say(&mut terminal, &format!("/background rm -rf build{number}"));
        until_shown(&terminal, "allow?");
        terminal.press("y");
        let banner = format!("⌁ bash_{number} exited");
        let screen = until_shown(&terminal, &banner);
        let started = screen.text.find(&format!("Started background task bash_{number}."));
        assert!(started < screen.text.find(&banner) && started.is_some(), "{}", screen.text);
    }
    leave(terminal);
}

#[test]
fn test_slash_background_approval() {
    let endpoint = ModelEndpoint::new();
    let home = table(&endpoint).gated();
    let mut terminal = chat(&home);
    say(&mut terminal, "/background rm -rf build");
    let screen = until_shown(&terminal, "allow?");
    assert!(screen.text.contains("rm -rf build"), "{}", screen.text);
    terminal.press("n");
    until_shown(&terminal, "✗ denied: ");
    let screen = until_shown(&terminal, "Not done: denied by a person.");
    assert!(!screen.text.contains("ask the user"), "this hint is for models: {}", screen.text);
    assert_eq!(screen.text.matches("✗ denied").count(), 1, "the denial is shown once: {}", screen.text);
    assert_eq!(home.list().len(), 0, "no task is left");
    say(&mut terminal, "/background rm -rf build");
    until(&terminal, "the denial still applies", |screen| {
        screen.text.matches("denied by a person").count() == 2
    });
    leave(terminal);
}

#[test]
fn test_slash_background_approval_by_command() {
    let endpoint = ModelEndpoint::new();
    let home = table(&endpoint).gated();
    let mut terminal = chat(&home);
    say(&mut terminal, "/background rm -rf build");
    until_shown(&terminal, "Command requires approval");
    terminal.press(ESC);
    until_gone(&terminal, "Command requires approval");
    say(&mut terminal, "/approve");
    until_shown(&terminal, "Started background task task_");
    assert_eq!(only(&home)["approved_by"], "user");
    let history = home.mw(["approvals", "--history"]);
    assert!(history.text().contains("the chat"), "{}", history.text());
}

#[test]
fn test_slash_tasks_list() {
    let endpoint = ModelEndpoint::new();
    let home = table(&endpoint);
    let mut terminal = chat(&home);
    terminal.resize(140, 40);
    say(&mut terminal, "/tasks");
    until_shown(&terminal, "No background tasks.");
    for (at, command) in ["true", "false", "sleep 600"].iter().enumerate() {
        say(&mut terminal, &format!("/background {command}"));
        until(&terminal, "it is started", |screen| {
            screen.text.matches("Started background").count() == at + 1
        });
    }
    wait_until(SOON, "two have ended", || {
        let ended = home.list().iter().filter(|task| task["ended_at"] != serde_json::Value::Null).count();
        (ended == 2).then_some(())
    });
    say(&mut terminal, "/tasks");
    let screen = until_shown(&terminal, "Description");
    for word in ["Status", "Started", "Duration", "completed", "failed", "running"] {
        assert!(screen.text.contains(word), "{word}: {}", screen.text);
    }
    say(&mut terminal, "/tasks failed");
    until(&terminal, "a second list", |screen| screen.text.matches("Description").count() == 2);
    let screen = until(&terminal, "only the failed task is listed", |screen| {
        let last = screen.text.rfind("Description").unwrap();
        screen.text[last..].contains("failed")
    });
    let last = &screen.text[screen.text.rfind("Description").unwrap()..];
    assert!(!last.contains("running") && !last.contains("completed"), "{last}");
}

#[test]
fn an_unknown_status_filter_is_an_error() {
    let endpoint = ModelEndpoint::new();
    let home = table(&endpoint);
    let mut terminal = chat(&home);
    terminal.resize(140, 40);
    say(&mut terminal, "/tasks bogus");
    let wanted = "No status \"bogus\"; choose one of pending, running, completed, failed, cancelled.";
    let screen = until_shown(&terminal, wanted);
    assert!(!screen.text.contains("No background tasks."), "{}", screen.text);
    leave(terminal);
}

#[test]
fn test_slash_status() {
    let endpoint = ModelEndpoint::new();
    let home = table(&endpoint);
    let mut terminal = chat(&home);
    terminal.resize(140, 50);
    say(
        &mut terminal,
        "/background sh -c 'echo from-the-task; while [ ! -e go ]; do sleep 0.05; done; exit 3'",
    );
    until_shown(&terminal, "Started background task");
    let id = only(&home)["id"].as_str().unwrap().to_owned();
    home.until_logged(&id, "from-the-task");
    say(&mut terminal, &format!("/status {id}"));
    let screen = until_shown(&terminal, "Recent output (last 20 lines):");
    for word in ["Status: running", "Command: ", "Started: ", "Full output: "] {
        assert!(screen.text.contains(word), "{word}: {}", screen.text);
    }
    home.open("go");
    until_shown(&terminal, " failed (3)");
    say(&mut terminal, "/status bash_1");
    let screen = until_shown(&terminal, "Exit code: 3");
    assert!(screen.text.contains("Completed: "), "{}", screen.text);
    say(&mut terminal, "/status nope");
    until_shown(&terminal, "Task nope not found.");
    leave(terminal);
}

#[test]
fn test_slash_cancel() {
    let endpoint = ModelEndpoint::new();
    let home = table(&endpoint);
    let mut terminal = chat(&home);
    say(&mut terminal, "/background sleep 600");
    until_shown(&terminal, "⌁ 1 task");
    say(&mut terminal, "/cancel bash_1");
    let screen = until_shown(&terminal, "cancelled.");
    assert!(screen.text.contains("Cancelling task task_"), "{}", screen.text);
    until_gone(&terminal, "⌁ 1 task");
    say(&mut terminal, "/cancel bash_1");
    until_shown(&terminal, "is not running (status: cancelled).");
    say(&mut terminal, "/restart bash_1");
    until_shown(&terminal, "Restarted task");
    until_shown(&terminal, "⌁ 1 task");
    say(&mut terminal, "/kill bash_1");
    until_gone(&terminal, "⌁ 1 task");
    leave(terminal);
}

#[test]
fn commands_run_in_the_order_of_input() {
    let endpoint = ModelEndpoint::new();
    let home = table(&endpoint).with_env("MEANWHILE_QUEUE_MAX_RUNNING", "8");
    let mut terminal = chat(&home);
    terminal.resize(140, 60);
    // All commands are entered before the first one has run.
    let lines: Vec<_> = (1..=8).map(|at| format!("/background sleep 60{at}\r/tasks\r")).collect();
    terminal.press(&lines.concat());
    wait_until(SOON, "eight tasks", || (home.list().len() == 8).then_some(()));
    until_shown(&terminal, "⌁ 8 tasks");
    say(&mut terminal, "/status nope");
    until_shown(&terminal, "Task nope not found.");
    let chats = std::fs::read_dir(home.state().join("chats")).unwrap().flatten();
    let file = chats.map(|chat| chat.path().join("transcript.jsonl")).next().unwrap();
    let printed = wait_until(SOON, "the last reply is in the transcript", || {
        let written = std::fs::read_to_string(&file).unwrap();
        let complete = &written[..written.rfind('\n')?];
        let entries = complete.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
        let printed: Vec<_> = entries
            .filter(|entry| entry["entry"] == "printed")
            .map(|entry| entry["text"].as_str().unwrap().to_owned())
            .collect();
        printed.last()?.contains("nope").then_some(printed)
    });
    assert_eq!(printed.len(), 17, "{printed:#?}");
    for (at, pair) in printed.chunks_exact(2).enumerate() {
        assert!(pair[0].contains("Started background task"), "{pair:?}");
        assert_eq!(pair[1].matches("sleep 60").count(), at + 1, "{}", pair[1]);
    }
}

#[test]
fn a_command_that_waits_for_approval_does_not_block_others() {
    let endpoint = ModelEndpoint::new();
    let home = table(&endpoint).gated();
    let mut terminal = chat(&home);
    say(&mut terminal, "/background rm -rf build");
    until_shown(&terminal, "Command requires approval");
    terminal.press(ESC);
    until_gone(&terminal, "Command requires approval");
    say(&mut terminal, "/tasks");
    until_shown(&terminal, "No background tasks.");
    say(&mut terminal, "/deny");
    until_shown(&terminal, "denied by a person");
    leave(terminal);
}

#[test]
fn an_unknown_slash_command_is_not_sent_to_the_model() {
    let endpoint = ModelEndpoint::new();
    let home = table(&endpoint);
    let mut terminal = chat(&home);
    say(&mut terminal, "/nope at all");
    until_shown(&terminal, "No command /nope");
    say(&mut terminal, "/help");
    until_shown(&terminal, "/background COMMAND");
    say(&mut terminal, "/mode plan");
    until_shown(&terminal, "· plan ·");
    say(&mut terminal, "/background touch x");
    until_shown(&terminal, "not allowed in mode plan");
    assert_eq!(endpoint.requests().len(), 0);
    leave(terminal);
}
