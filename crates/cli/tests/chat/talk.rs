//! Conversations: streaming, tools, and notifications without input.

use mw_testkit::model_endpoint::{Answer, ModelEndpoint};
use mw_testkit::{SOON, processes, wait_until};
use serde_json::json;

use super::*;

#[test]
fn a_response_is_drawn_while_it_streams() {
    let endpoint = ModelEndpoint::new();
    endpoint.will(Answer::text("# Plan\n- first **step**\n").hold().and_text("- second"));
    let home = home(&endpoint);
    let mut terminal = chat(&home);
    say(&mut terminal, "hello");
    let screen = until_shown(&terminal, "• first step");
    assert!(!screen.text.contains("second"), "{}", screen.text);
    assert!(screen.text.contains("working"), "{}", screen.text);
    endpoint.release();
    until_shown(&terminal, "• second");
    until_shown(&terminal, "· ready");
    leave(terminal);
}

#[test]
fn the_end_of_a_background_task_is_reported_without_input() {
    let endpoint = ModelEndpoint::new();
    let command = "while [ ! -e go ]; do sleep 0.05; done; exit 3";
    endpoint.will(Answer::empty().call("shell", json!({"command": command, "run_in_background": true})));
    endpoint.will(Answer::text("It runs."));
    endpoint.will(Answer::text("Four."));
    endpoint.will(Answer::text("The test failed with 3."));
    let home = home(&endpoint);
    let mut terminal = chat(&home);
    say(&mut terminal, "run the test");
    let screen = until_shown(&terminal, "It runs.");
    assert!(
        screen.text.contains("in the background as bash"),
        "the call is shown as running: {}",
        screen.text
    );
    until_shown(&terminal, "⌁ 1 task");
    say(&mut terminal, "two and two?");
    until_shown(&terminal, "Four.");
    home.open("go");
    let screen = until_shown(&terminal, "The test failed with 3.");
    let text = &screen.text;
    assert!(text.contains(" failed (3) · "), "{text}");
    assert_eq!(
        text.matches("while [ ! -e go ]").count(),
        2,
        "the call and the banner name the command: {text}"
    );
    assert!(!text.contains("task-notification"), "the banner replaces the notification block: {text}");
    until_gone(&terminal, "⌁ 1 task");
    let delivered: Vec<_> = endpoint.requests().iter().map(|request| request.last_text()).collect();
    assert_eq!(delivered.iter().filter(|text| text.contains("<task-id>bash-")).count(), 1, "{delivered:?}");
    leave(terminal);
    assert_eq!(endpoint.left(), 0);
}

#[test]
fn a_notification_that_arrives_during_a_turn_is_in_the_next_turn() {
    let endpoint = ModelEndpoint::new();
    endpoint.will(Answer::empty().call("shell", json!({"command": "exit 4", "run_in_background": true})));
    endpoint.will(Answer::text("Waiting").hold().and_text(" no more."));
    endpoint.will(Answer::text("It ended with 4."));
    let home = home(&endpoint);
    let mut terminal = chat(&home);
    say(&mut terminal, "go");
    until_shown(&terminal, " failed (4)");
    until_shown(&terminal, "Waiting");
    assert_eq!(endpoint.requests().len(), 2, "the turn under way is not disturbed");
    endpoint.release();
    until_shown(&terminal, "It ended with 4.");
    let last = endpoint.request(2).last_text();
    assert!(last.starts_with("<task-notification>"), "{last}");
    leave(terminal);
}

#[test]
fn a_failed_command_is_not_marked_as_successful() {
    let endpoint = ModelEndpoint::new();
    endpoint.will(Answer::empty().call("shell", json!({"command": "exit 7"})));
    endpoint.will(Answer::text("It failed."));
    let home = home(&endpoint);
    let mut terminal = chat(&home);
    say(&mut terminal, "go");
    let screen = until_shown(&terminal, "It failed.");
    assert!(screen.text.contains("✗ exit 7"), "{}", screen.text);
    leave(terminal);
}

#[test]
fn a_tool_call_is_one_line_until_expanded() {
    let endpoint = ModelEndpoint::new();
    endpoint.will(Answer::empty().call("shell", json!({"command": "echo from-the-tool"})));
    endpoint.will(Answer::empty().call("write_file", json!({"path": "a.txt", "content": "new line\n"})));
    endpoint.will(Answer::text("Done."));
    let home = home(&endpoint);
    let mut terminal = chat(&home);
    say(&mut terminal, "go");
    let screen = until_shown(&terminal, "Done.");
    assert!(screen.text.contains("✓ echo from-the-tool"), "{}", screen.text);
    assert!(!screen.text.contains("\n   from-the-tool"), "{}", screen.text);
    assert!(screen.text.contains("+ new line"), "a diff is open: {}", screen.text);
    terminal.press(CTRL_O);
    until_shown(&terminal, "\n   from-the-tool");
    terminal.press(CTRL_O);
    until_gone(&terminal, "\n   from-the-tool");
    leave(terminal);
}

#[test]
fn esc_stops_the_turn_but_no_task() {
    let endpoint = ModelEndpoint::new();
    endpoint.will(Answer::empty().call("shell", json!({"command": "sleep 600", "run_in_background": true})));
    endpoint.will(Answer::text("Long thoughts").hold());
    let home = home(&endpoint);
    let mut terminal = chat(&home);
    say(&mut terminal, "go");
    until_shown(&terminal, "Long thoughts");
    terminal.press(ESC);
    until_shown(&terminal, "■ stopped: cancelled");
    until_shown(&terminal, "· ready");
    until_shown(&terminal, "⌁ 1 task");
    assert_eq!(home.list()[0]["status"], "running");
}

#[test]
fn input_during_a_turn_waits_for_its_end() {
    let endpoint = ModelEndpoint::new();
    endpoint.will(Answer::text("First").hold().and_text(" done."));
    endpoint.will(Answer::text("Second done."));
    let home = home(&endpoint);
    let mut terminal = chat(&home);
    say(&mut terminal, "one");
    until_shown(&terminal, "First");
    say(&mut terminal, "two");
    until_shown(&terminal, "queued: two");
    endpoint.release();
    until_shown(&terminal, "Second done.");
    assert_eq!(endpoint.request(1).last_text(), "two");
    until_gone(&terminal, "queued: two");
    leave(terminal);
}

#[test]
fn a_crashed_agent_is_reported_and_restarted_by_the_next_input() {
    let endpoint = ModelEndpoint::new();
    endpoint.will(Answer::text("I am here."));
    endpoint.will(Answer::text("Here again."));
    let home = home(&endpoint);
    let mut terminal = chat(&home);
    say(&mut terminal, "hello");
    until_shown(&terminal, "I am here.");
    let agent = wait_until(SOON, "the agent's process", || {
        home.tagged().into_iter().find(|pid| processes::command_line(*pid).iter().any(|word| word == "acp"))
    });
    home.kill_process(agent);
    until_shown(&terminal, "· not running");
    say(&mut terminal, "still there?");
    until_shown(&terminal, "Here again.");
    assert!(endpoint.request(1).says("hello"), "the new agent has the conversation");
    leave(terminal);
}

#[test]
fn the_foreground_command_of_a_crashed_agent_becomes_a_background_task() {
    let endpoint = ModelEndpoint::new();
    endpoint.will(Answer::empty().call("shell", json!({"command": "sleep 600"})));
    endpoint.will(Answer::text("Here again."));
    let home = home(&endpoint);
    let mut terminal = chat(&home);
    say(&mut terminal, "run it");
    until_shown(&terminal, "to background");
    let agent = wait_until(SOON, "the agent's process", || {
        home.tagged().into_iter().find(|pid| processes::command_line(*pid).iter().any(|word| word == "acp"))
    });
    home.kill_process(agent);
    until_shown(&terminal, "· not running");
    until_shown(&terminal, "⌁ 1 task");
    until_gone(&terminal, "to background");
    // The next agent does not wait for it either.
    say(&mut terminal, "still there?");
    until_shown(&terminal, "Here again.");
    let screen = until_shown(&terminal, "⌁ 1 task");
    assert!(!screen.text.contains("to background"), "{}", screen.text);
}

#[test]
fn test_agent_proposes_background() {
    let endpoint = ModelEndpoint::new();
    let command = "rm -rf build; [ -e once ] && sleep 600; sleep 1.2; touch once";
    let call = json!({"command": command, "run_in_background": true, "expected": "~5 minutes, 247 files"});
    endpoint.will(Answer::empty().call("shell", json!({"command": command, "run_in_background": true})));
    endpoint.will(Answer::text("It runs."));
    endpoint.will(Answer::text("It is done."));
    endpoint.will(Answer::empty().call("shell", call));
    endpoint.will(Answer::text("It runs as bash_2; /status bash_2 shows how it stands."));
    let home = home(&endpoint).gated();
    let mut terminal = chat(&home);
    terminal.resize(100, 40);
    say(&mut terminal, "build everything");
    let screen = until_shown(&terminal, "allow?");
    assert!(screen.text.contains(command), "{}", screen.text);
    assert!(!screen.text.contains("last time") && !screen.text.contains("expects"), "{}", screen.text);
    assert_eq!(home.list().len(), 0, "nothing runs before the answer");
    terminal.press("y");
    until_shown(&terminal, "It is done.");
    until_shown(&terminal, "· ready");
    say(&mut terminal, "once more");
    let screen = until_shown(&terminal, "The agent expects: ~5 minutes, 247 files");
    // The estimate of the agent, and the duration of the last run.
    let ms = home.list()[0]["duration_ms"].as_u64().unwrap();
    let tenths = if ms < 10_000 { format!(".{}", ms % 1000 / 100) } else { String::new() };
    let took = format!("It took {}{tenths}s last time", ms / 1000);
    assert!(screen.text.contains(&took), "{took}: {}", screen.text);
    assert!(screen.text.contains(command), "{}", screen.text);
    // The directory, and every part of the request once.
    assert!(screen.text.contains("Start in background? [y/n]"), "{}", screen.text);
    assert!(screen.text.contains(&*home.work().file_name().unwrap().to_string_lossy()), "{}", screen.text);
    assert_eq!(screen.text.matches("~5 minutes").count(), 1, "{}", screen.text);
    assert!(!screen.text.contains("run_in_background"), "{}", screen.text);
    until_shown(&terminal, "allow?");
    terminal.press("y");
    until_shown(&terminal, "/status bash_2 shows how it stands.");
    until_shown(&terminal, "⌁ 1 task");
    until_shown(&terminal, "· ready");
    let tasks = home.list();
    assert!(tasks.len() == 2 && tasks.iter().all(|task| task["approved_by"] == "user"), "{tasks:?}");
}

#[test]
fn test_agent_checks_status() {
    let endpoint = ModelEndpoint::new();
    let call = json!({"command": "echo half-way; sleep 600", "run_in_background": true});
    endpoint.will(Answer::empty().call("shell", call));
    endpoint.will(Answer::text("It runs."));
    endpoint.will(Answer::empty().call("task_output", json!({"task_id": "bash_1"})));
    endpoint.will(Answer::text("It is half-way."));
    let home = home(&endpoint);
    let mut terminal = chat(&home);
    say(&mut terminal, "go");
    until_shown(&terminal, "It runs.");
    let id = home.list()[0]["id"].as_str().unwrap().to_owned();
    home.until_logged(&id, "half-way");
    say(&mut terminal, "how is it?");
    until_shown(&terminal, "It is half-way.");
    assert!(endpoint.request(3).says("half-way"), "the model gets the output of the task");
}
