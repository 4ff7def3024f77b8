//! Controls of the chat: chip, dialogs, moving to the background, approval, leaving, and the terminal.

use mw_testkit::model_endpoint::{Answer, ModelEndpoint};
use mw_testkit::{alive, wait_until};
use rustix::process::Signal;
use serde_json::json;

use super::*;

/// Opens a chat whose agent waits for a long foreground command; returns the pid in the file `child`.
fn with_foreground(endpoint: &ModelEndpoint, home: &Home) -> (Terminal, u32) {
    let command = "sleep 600 & echo $! > child; wait";
    endpoint.will(Answer::empty().call("shell", json!({"command": command})));
    endpoint.will(Answer::text("Back again."));
    let mut terminal = chat(home);
    say(&mut terminal, "go");
    let child = home.pid_in("child");
    (terminal, child)
}

#[test]
fn ctrl_b_shows_the_tasks_and_a_second_ctrl_b_moves_the_command_to_the_background() {
    let endpoint = ModelEndpoint::new();
    let home = home(&endpoint);
    let (mut terminal, child) = with_foreground(&endpoint, &home);
    until_shown(&terminal, "to background");
    terminal.press(CTRL_B);
    until_shown(&terminal, "(foreground)");
    assert!(!terminal.screen().text.contains("⌁ 1 task"), "an awaited command is not in the background");
    terminal.press(CTRL_B);
    until_shown(&terminal, "Back again.");
    until_shown(&terminal, "⌁ 1 task");
    assert!(alive(child), "the process keeps running");
    let result = endpoint.request(1).last_text();
    let task = &home.list()[0];
    let end = format!("s; it continues in the background as {}. ", task["id"].as_str().unwrap());
    assert!(result.starts_with("[moved to the background by the user after "), "{result}");
    assert!(result.contains(&end), "{result}");
    assert_eq!(task["status"], "running");
}

#[test]
fn a_kill_from_the_dialog_ends_the_process_group_and_notifies_the_agent() {
    let endpoint = ModelEndpoint::new();
    let home = home(&endpoint);
    let (mut terminal, child) = with_foreground(&endpoint, &home);
    until_shown(&terminal, "to background");
    terminal.press(CTRL_B);
    terminal.press(CTRL_B);
    until_shown(&terminal, "Back again.");
    until_shown(&terminal, "⌁ 1 task");
    endpoint.will(Answer::text("You killed it."));
    terminal.press(CTRL_B);
    until(&terminal, "the task and its log", |screen| {
        screen.text.contains("kill") && screen.text.contains("output.log")
    });
    assert!(terminal.shown().contains("\u{1b}]8;;file:///"), "the log is a link");
    terminal.press("x");
    until_shown(&terminal, " and everything it started?");
    terminal.press("y");
    home.until_dead(child);
    until_shown(&terminal, "No background tasks.");
    terminal.press(ESC);
    until_shown(&terminal, " cancelled");
    until_shown(&terminal, "You killed it.");
    until_gone(&terminal, "⌁ 1 task");
    leave(terminal);
}

#[test]
fn ctrl_k_offers_to_end_the_turn_or_a_task() {
    let endpoint = ModelEndpoint::new();
    endpoint.will(Answer::empty().call("shell", json!({"command": "sleep 600", "run_in_background": true})));
    endpoint.will(Answer::text("Thinking").hold());
    let home = home(&endpoint);
    let mut terminal = chat(&home);
    say(&mut terminal, "go");
    until_shown(&terminal, "Thinking");
    until_shown(&terminal, "⌁ 1 task");
    terminal.press(CTRL_K);
    until_shown(&terminal, "the agent's turn");
    terminal.press("\u{1b}[B\r");
    until_shown(&terminal, " cancelled");
    assert!(terminal.screen().text.contains("working"), "the turn continues");
    terminal.press(CTRL_K);
    endpoint.will(Answer::text("I heard."));
    terminal.press("\r");
    until_shown(&terminal, "■ stopped: cancelled");
    until_shown(&terminal, "I heard.");
    leave(terminal);
}

#[test]
fn leaving_asks_before_it_ends_running_tasks() {
    let endpoint = ModelEndpoint::new();
    let home = home(&endpoint);
    let (mut terminal, child) = with_foreground(&endpoint, &home);
    until_shown(&terminal, "to background");
    terminal.press(CTRL_C);
    until_shown(&terminal, "1 task is running.");
    terminal.press("n");
    until_gone(&terminal, "1 task is running.");
    say(&mut terminal, "/quit");
    until_shown(&terminal, "1 task is running.");
    terminal.press("y");
    assert_eq!(terminal.ended(), Some(0));
    assert!(!alive(child), "the task has ended with the chat");
    until(&terminal, "the terminal is given back", Screen::is_given_back);
}

#[test]
fn a_signal_ends_the_chat_and_its_tasks_with_the_signals_exit_code() {
    let endpoint = ModelEndpoint::new();
    let home = home(&endpoint);
    let (mut terminal, child) = with_foreground(&endpoint, &home);
    terminal.signal(Signal::INT);
    assert_eq!(terminal.ended(), Some(130));
    assert!(!alive(child));
    until(&terminal, "the terminal is given back", Screen::is_given_back);
}

#[test]
fn repeated_sighup_leaves_no_task_running() {
    let endpoint = ModelEndpoint::new();
    let home = home(&endpoint).with_env("MEANWHILE_KILL_GRACE_MS", "1000");
    let command = "trap '' TERM; echo $$ > child; while :; do sleep 0.1; done";
    endpoint.will(Answer::empty().call("shell", json!({"command": command, "run_in_background": true})));
    endpoint.will(Answer::text("It runs."));
    let mut terminal = chat(&home);
    say(&mut terminal, "go");
    until_shown(&terminal, "It runs.");
    let child = home.pid_in("child");
    terminal.signal(Signal::HUP);
    until_shown(&terminal, "ending 1 task");
    terminal.signal(Signal::HUP);
    assert_eq!(terminal.ended(), Some(129));
    assert!(!alive(child), "the task has ended with the chat");
}

#[test]
fn an_approval_dialog_shows_the_exact_command_and_is_answered_with_a_key() {
    let endpoint = ModelEndpoint::new();
    for command in ["rm -rf build; echo gone > mark", "rm -rf build; echo away > mark"] {
        endpoint.will(Answer::empty().call("shell", json!({"command": command})));
        endpoint.will(Answer::text("Next."));
    }
    let home = home(&endpoint).gated();
    let mut terminal = chat(&home);
    say(&mut terminal, "clean up");
    let screen = until_shown(&terminal, "allow?");
    assert!(screen.text.contains("rm -rf build; echo gone > mark"), "{}", screen.text);
    assert!(screen.text.contains("deletes build"), "its effects: {}", screen.text);
    terminal.press("n");
    until_shown(&terminal, "✗ denied");
    until_shown(&terminal, "Next.");
    assert!(!home.has_file("mark"));
    until_shown(&terminal, "· ready");
    say(&mut terminal, "really");
    until_shown(&terminal, "allow?");
    terminal.press("y");
    until_shown(&terminal, "✓ allowed");
    wait_until(SOON, "the command has run", || home.has_file("mark").then_some(()));
    until_shown(&terminal, "· ready");
    leave(terminal);
}

#[test]
fn many_resizes_leave_a_complete_screen() {
    let endpoint = ModelEndpoint::new();
    endpoint.will(Answer::text("# Words\n- and more of them in a long line that has to be broken somewhere"));
    let home = home(&endpoint);
    let mut terminal = chat(&home);
    say(&mut terminal, "hello");
    until_shown(&terminal, "somewhere");
    for step in 0..40_u16 {
        terminal.resize(1 + step * 7 % 120, 1 + step * 5 % 40);
        terminal.press(if step % 3 == 0 { CTRL_B } else { "x" });
    }
    terminal.press(ESC);
    terminal.resize(100, 30);
    let screen = until(&terminal, "the whole screen is drawn", |screen| {
        screen.text.contains("somewhere") && screen.text.contains("Enter send")
    });
    assert_eq!(screen.text.lines().filter(|line| line.contains("mw chat ·")).count(), 1);
}

#[test]
fn a_panic_restores_the_terminal() {
    let endpoint = ModelEndpoint::new();
    let home = home(&endpoint);
    let mut terminal = home.command(["chat", "--panic"]).on_terminal();
    assert_ne!(terminal.ended(), Some(0));
    until(&terminal, "the terminal is given back", Screen::is_given_back);
    until_shown(&terminal, "asked to panic");
}

#[test]
fn pasted_lines_stay_in_the_input_until_sent() {
    let endpoint = ModelEndpoint::new();
    endpoint.will(Answer::text("Read."));
    let home = home(&endpoint);
    let mut terminal = chat(&home);
    terminal.press("\u{1b}[200~one\rtwo\u{1b}[201~");
    until_shown(&terminal, "two");
    assert_eq!(endpoint.requests().len(), 0, "a pasted line break sends nothing");
    terminal.press("\r");
    until_shown(&terminal, "Read.");
    assert_eq!(endpoint.request(0).last_text(), "one\ntwo");
    terminal.press("\u{1b}[A");
    until(&terminal, "the history shows the input", |screen| screen.text.matches("two").count() == 2);
    terminal.press(CTRL_C);
    leave(terminal);
}

#[test]
fn without_a_model_the_chat_is_refused_with_a_next_step() {
    let home = Home::new(env!("CARGO_BIN_EXE_mw"));
    let mut terminal = home.command(["chat"]).on_terminal();
    assert_eq!(terminal.ended(), Some(2));
    let screen = until_shown(&terminal, "no model endpoint is set");
    assert!(screen.text.contains("OPENAI_API_KEY"), "{}", screen.text);
    assert!(screen.text.contains("--agent NAME"), "{}", screen.text);
    assert!(!home.state().join("chats").exists());
}

#[test]
fn without_a_terminal_the_chat_is_refused() {
    let endpoint = ModelEndpoint::new();
    let home = home(&endpoint);
    let outcome = home.mw(["chat"]);
    assert_eq!(outcome.code, Some(2));
    assert!(outcome.stderr_text().contains("needs a terminal"), "{}", outcome.stderr_text());
}
