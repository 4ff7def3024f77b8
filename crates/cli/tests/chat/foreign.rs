//! Any other agent: it gets the tools by the server that is bound to the chat.

use std::fs;

use mw_testkit::model_endpoint::ModelEndpoint;
use mw_testkit::{alive, wait_until};
use serde_json::json;

use super::*;

/// The agent whose prompts are steps, one a line.
const SCRIPTED: &str = include_str!("../../../testkit/fixtures/agents/scripted.py");

pub(super) fn with_agent(home: Home) -> Home {
    let program = home.user().join("scripted.py");
    fs::write(&program, SCRIPTED).unwrap();
    let agents: String = [
        ("good", "--good"),
        ("forgetful", "--no-load"),
        ("absent", "--exit"),
        ("deaf", "--ignore-cancel"),
        ("modeless", "--no-modes"),
        ("orderly", "--modes-between-turns"),
    ]
    .map(|(name, flag)| {
        let words = json!(["python3", program, flag]);
        format!("[agents.{name}]\ncommand = {words}\nenv = {{ SCRIPTED_STATE = {:?} }}\n", home.user())
    })
    .concat();
    let directory = home.user().join(".config/meanwhile");
    fs::create_dir_all(&directory).unwrap();
    fs::write(directory.join("config.toml"), agents).unwrap();
    home
}

#[test]
fn its_tasks_are_the_chats_and_move_to_the_background() {
    let home = with_agent(home(&ModelEndpoint::new()));
    let mut terminal = chat_with(&home, &["chat", "--agent", "good"]);
    let call = json!({"command": "echo $$ > child; exec sleep 600"});
    say(&mut terminal, &format!("mcp shell {call}"));
    let child = home.pid_in("child");
    until_shown(&terminal, "to background");
    terminal.press(CTRL_B);
    until_shown(&terminal, "(awaited)");
    terminal.press(CTRL_B);
    until_shown(&terminal, "⌁ 1 task");
    until_shown(&terminal, "· ready");
    assert!(alive(child));
    say(&mut terminal, "/kill bash_1");
    until_shown(&terminal, "⌁ bash_1 killed");
    until_shown(&terminal, "· ready");
    leave(terminal);
}

#[test]
fn it_asks_by_the_protocol_and_its_tools_by_the_store() {
    let home = with_agent(home(&ModelEndpoint::new()).gated());
    let mut terminal = chat_with(&home, &["chat", "--agent", "good"]);
    say(&mut terminal, "ask rm -rf target");
    let screen = until_shown(&terminal, "may it?");
    assert!(screen.text.contains("rm -rf target"), "{}", screen.text);
    terminal.press("y");
    until_shown(&terminal, "permission: yes");
    until_shown(&terminal, "· ready");
    let call = json!({"command": "rm -rf build; echo gone > mark"});
    say(&mut terminal, &format!("mcp shell {call}"));
    until_shown(&terminal, "may it?");
    terminal.press("y");
    wait_until(SOON, "the command has run", || home.has_file("mark").then_some(()));
    until_shown(&terminal, "· ready");
    leave(terminal);
}

#[test]
fn one_that_forgets_says_so_and_one_that_fails_is_named() {
    let home = with_agent(home(&ModelEndpoint::new()));
    let mut terminal = chat_with(&home, &["chat", "--agent", "forgetful"]);
    say(&mut terminal, "say hello");
    until_shown(&terminal, "\n hello");
    leave(terminal);
    let terminal = chat_with(&home, &["chat", "--resume"]);
    let screen = until_shown(&terminal, "opened again");
    assert!(screen.text.contains("forgetful"), "the agent of the chat: {}", screen.text);
    until_shown(&terminal, "does not remember");
    leave(terminal);
    let terminal = home.command(["chat", "--agent", "absent"]).on_terminal();
    until_shown(&terminal, "not there");
    leave(terminal);
}
