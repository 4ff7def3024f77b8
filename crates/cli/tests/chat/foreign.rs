//! Other agents in a chat: they get the tools from the MCP server of the chat.

use std::fs;
use std::time::Duration;

use mw_testkit::model_endpoint::ModelEndpoint;
use mw_testkit::{alive, wait_until};
use serde_json::json;

use super::*;

/// The scripted agent: each line of a prompt is a step.
const SCRIPTED: &str = include_str!("../../../testkit/fixtures/agents/scripted.py");

pub(super) fn with_agent(home: Home) -> Home {
    let home = home.needing("python3");
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
fn mcp_tasks_of_an_agent_belong_to_the_chat_and_can_move_to_the_background() {
    let home = with_agent(home(&ModelEndpoint::new()));
    let mut terminal = chat_with(&home, &["chat", "--agent", "good"]);
    let call = json!({"command": "echo $$ > child; exec sleep 600"});
    say(&mut terminal, &format!("mcp shell {call}"));
    let child = home.pid_in("child");
    until_shown(&terminal, "to background");
    terminal.press(CTRL_B);
    until_shown(&terminal, "(foreground)");
    terminal.press(CTRL_B);
    until_shown(&terminal, "⌁ 1 task");
    until_shown(&terminal, "· ready");
    assert!(alive(child));
    say(&mut terminal, "/kill bash_1");
    until_shown(&terminal, " cancelled");
    until_shown(&terminal, "· ready");
    leave(terminal);
}

#[test]
fn terminals_of_an_agent_are_tasks_of_the_chat_and_can_move_to_the_background() {
    let home = with_agent(home(&ModelEndpoint::new()));
    let mut terminal = chat_with(&home, &["chat", "--agent", "good"]);
    say(&mut terminal, "term echo so-far; echo $$ > child; while [ ! -e go ]; do sleep 0.05; done; exit 3");
    let child = home.pid_in("child");
    until_shown(&terminal, "to background");
    terminal.press(CTRL_B);
    until_shown(&terminal, "(foreground)");
    terminal.press(CTRL_B);
    // The agent stops waiting, reads the output so far, and releases the terminal at once.
    until_shown(&terminal, "terminal: None so-far");
    until_shown(&terminal, "it continues as bash-");
    until_shown(&terminal, "· ready");
    until_shown(&terminal, "⌁ 1 task");
    assert!(alive(child), "releasing a terminal does not end its command");
    home.open("go");
    until_shown(&terminal, " failed (3)");
    until_gone(&terminal, "⌁ 1 task");
    let delivered = wait_until(SOON, "the agent is notified", || {
        let delivered = trouble::prompts(&home);
        delivered.last().filter(|text| text.starts_with("<task-notification>")).cloned()
    });
    assert!(delivered.contains("bash-"), "{delivered}");
    until_shown(&terminal, "· ready");
    say(&mut terminal, "term exit 4");
    until_shown(&terminal, "terminal: 4");
    until_shown(&terminal, "· ready");
    say(&mut terminal, "say more");
    until_shown(&terminal, "\n more");
    assert_eq!(
        trouble::prompts(&home).last().unwrap(),
        "say more",
        "the end of an awaited task is not notified"
    );
    leave(terminal);
}

#[test]
fn an_agent_is_notified_of_the_end_of_a_terminal_that_it_left_running() {
    let home = with_agent(home(&ModelEndpoint::new()));
    let mut terminal = chat_with(&home, &["chat", "--agent", "good"]);
    say(&mut terminal, "term-bg while [ ! -e go ]; do sleep 0.05; done; exit 3");
    until_shown(&terminal, "⌁ 1 task");
    home.open("go");
    until_shown(&terminal, " failed (3)");
    wait_until(SOON, "the agent is notified", || {
        let delivered = trouble::prompts(&home);
        delivered.last().filter(|text| text.contains("<task-id>bash-")).cloned()
    });
    until_shown(&terminal, "· ready");
    leave(terminal);
}

#[test]
fn file_access_and_commands_of_an_agent_are_subject_to_the_chats_policy() {
    let home = with_agent(home(&ModelEndpoint::new()).gated());
    let mut terminal = chat_with(&home, &["chat", "--agent", "good"]);
    let file = home.work().join("written.txt");
    say(&mut terminal, "term rm -rf build; echo gone > mark");
    until_shown(&terminal, "allow?");
    terminal.press("n");
    until_shown(&terminal, "refused: ");
    until_shown(&terminal, "· ready");
    assert!(!home.has_file("mark"));
    say(&mut terminal, &format!("write {} hello\nread {}", file.display(), file.display()));
    until_shown(&terminal, "read: hello");
    until_shown(&terminal, "· ready");
    say(&mut terminal, "/mode plan");
    until_shown(&terminal, "· plan ·");
    say(&mut terminal, &format!("write {} again", file.display()));
    until_shown(&terminal, "write: refused denied: changing files is not allowed in mode plan");
    assert_eq!(fs::read_to_string(&file).unwrap(), "hello");
    leave(terminal);
}

#[test]
fn an_agents_permission_request_does_not_hide_stored_approval_requests() {
    let home = with_agent(home(&ModelEndpoint::new()).gated());
    let mut terminal = chat_with(&home, &["chat", "--agent", "good"]);
    say(&mut terminal, "/background rm -rf build");
    until_shown(&terminal, "allow?");
    terminal.press(ESC);
    until_gone(&terminal, "Command requires approval");
    say(&mut terminal, "ask rm -rf build");
    until_shown(&terminal, "approval required (Ctrl-Y)");
    say(&mut terminal, "/approve");
    until_shown(&terminal, "Started background task");
    // The request of the agent stays in the background, like the request before it.
    terminal.press(CTRL_Y);
    until_shown(&terminal, "allow?");
    terminal.press(ESC);
    until_gone(&terminal, "allow?");
    say(&mut terminal, "/deny");
    until_shown(&terminal, "permission: no");
    until_shown(&terminal, "· ready");
    say(&mut terminal, "/approve");
    until_shown(&terminal, "No open approval requests.");
    say(&mut terminal, "/approve ask-7");
    until_shown(&terminal, "No approval request ask-7 in this chat.");
    // A chat with running tasks asks for confirmation before it ends.
    until_shown(&terminal, " completed (0)");
    until_gone(&terminal, "⌁ 1 task");
    until_shown(&terminal, "· ready");
    leave(terminal);
}

#[test]
fn a_wake_up_opens_the_approval_dialog_and_an_answer_elsewhere_closes_it() {
    let home = with_agent(home(&ModelEndpoint::new()).gated());
    // The fallback polling is once a minute.
    let home = home.with_env("MEANWHILE_WAIT_FALLBACK_MS", "60000");
    let mut terminal = chat_with(&home, &["chat", "--agent", "good"]);
    let call = json!({"command": "rm -rf build; echo gone > mark"});
    let asked = Instant::now();
    say(&mut terminal, &format!("mcp shell {call}"));
    until_shown(&terminal, "Command requires approval");
    assert!(asked.elapsed() < Duration::from_secs(50), "only the fallback poll found it");
    let open = home.mw(["approvals", "--json"]).json();
    let id = open["approvals"][0]["id"].as_str().unwrap().to_owned();
    let answered = Instant::now();
    home.mw(["approve", &id]).ok();
    until_gone(&terminal, "Command requires approval");
    assert!(answered.elapsed() < Duration::from_secs(50), "only the fallback poll found it");
    wait_until(SOON, "the command has run", || home.has_file("mark").then_some(()));
    until_shown(&terminal, "· ready");
    leave(terminal);
}

#[test]
fn a_finished_subagent_accepts_a_follow_up() {
    let home = with_agent(home(&ModelEndpoint::new()));
    let mut terminal = chat_with(&home, &["chat", "--agent", "good"]);
    let call = json!({"agent": "good", "prompt": "say one", "run_in_background": true});
    say(&mut terminal, &format!("mcp agent {call}"));
    until_shown(&terminal, " completed (0) · ");
    until_shown(&terminal, "· ready");
    say(&mut terminal, "/resume agent_1");
    until_shown(&terminal, "/resume needs a message, too");
    say(&mut terminal, "/resume agent_1 say two");
    until_shown(&terminal, "Resumed task agent-");
    until(&terminal, "the subagent has answered again", |screen| {
        screen.text.matches(" completed (0) · ").count() == 2
    });
    let task = &home.list()[0];
    let output = home.mw(["output", task["id"].as_str().unwrap()]).ok();
    assert!(output.contains("two"), "{output}");
    until_shown(&terminal, "· ready");
    leave(terminal);
}

#[test]
fn requests_of_an_agent_and_of_its_mcp_tools_open_the_approval_dialog() {
    let home = with_agent(home(&ModelEndpoint::new()).gated());
    let mut terminal = chat_with(&home, &["chat", "--agent", "good"]);
    say(&mut terminal, "ask rm -rf target");
    let screen = until_shown(&terminal, "allow?");
    assert!(screen.text.contains("rm -rf target"), "{}", screen.text);
    terminal.press("y");
    until_shown(&terminal, "permission: yes");
    until_shown(&terminal, "· ready");
    let call = json!({"command": "rm -rf build; echo gone > mark"});
    say(&mut terminal, &format!("mcp shell {call}"));
    until_shown(&terminal, "allow?");
    terminal.press("y");
    wait_until(SOON, "the command has run", || home.has_file("mark").then_some(()));
    until_shown(&terminal, "· ready");
    leave(terminal);
}

#[test]
fn an_agents_own_commands_and_its_permanent_approval_can_be_used() {
    let home = with_agent(home(&ModelEndpoint::new()));
    let mut terminal = chat_with(&home, &["chat", "--agent", "good"]);
    say(&mut terminal, "commands review\nusage 250 0");
    until_shown(&terminal, "250/1k tokens");
    until_shown(&terminal, "· ready");
    terminal.press("/re");
    let screen = until_shown(&terminal, "the command review (good)");
    assert!(screen.text.contains("/restart ID"), "{}", screen.text);
    terminal.press("v\tthe diff\r");
    until_shown(&terminal, "reviewed the diff");
    until_shown(&terminal, "· ready");
    say(&mut terminal, "ask rm -rf target");
    until_shown(&terminal, "allow?");
    terminal.press("a");
    until_shown(&terminal, "permission: ever");
    until_shown(&terminal, "· ready");
    leave(terminal);
}

#[test]
fn an_approved_command_runs_in_one_terminal_and_the_next_one_asks_again() {
    let home = with_agent(home(&ModelEndpoint::new()).gated());
    let mut terminal = chat_with(&home, &["chat", "--agent", "good"]);
    let command = "rm -rf build; echo once >> mark";
    // Pasted text keeps its lines.
    let steps = format!("ask {command}\nterm {command}\nterm {command}");
    terminal.press(&format!("\u{1b}[200~{steps}\u{1b}[201~\r"));
    until_shown(&terminal, "allow?");
    terminal.press("y");
    assert_eq!(home.lines_in("mark", 1), "once\n");
    // The second terminal needs another approval; its dialog hides the output of the first one.
    until(&terminal, "the second question can be answered", |screen| {
        ["Run it? [y/n]", "allow?"].iter().all(|text| screen.text.contains(text))
    });
    terminal.press("n");
    until_shown(&terminal, "refused: ");
    until_shown(&terminal, "· ready");
    assert_eq!(fs::read_to_string(home.work().join("mark")).unwrap(), "once\n");
    leave(terminal);
}

#[test]
fn policy_checks_the_environment_of_an_agents_terminals() {
    let home = with_agent(home(&ModelEndpoint::new()).gated());
    let mut terminal = chat_with(&home, &["chat", "--agent", "good"]);
    say(&mut terminal, "term-env LD_PRELOAD=/tmp/evil.so echo harmless > mark");
    let screen = until_shown(&terminal, "allow?");
    assert!(screen.text.contains("LD_PRELOAD"), "{}", screen.text);
    terminal.press("n");
    until_shown(&terminal, "refused: ");
    until_shown(&terminal, "· ready");
    assert!(!home.has_file("mark"));
    leave(terminal);
}

#[test]
fn a_chat_reports_an_agent_that_cannot_load_sessions_or_does_not_start() {
    let home = with_agent(home(&ModelEndpoint::new()));
    let mut terminal = chat_with(&home, &["chat", "--agent", "forgetful"]);
    say(&mut terminal, "say hello");
    until_shown(&terminal, "\n hello");
    leave(terminal);
    let terminal = chat_with(&home, &["chat", "--resume"]);
    let screen = until_shown(&terminal, "── resumed ──");
    assert!(screen.text.contains("forgetful"), "the agent of the chat: {}", screen.text);
    until_shown(&terminal, "does not remember");
    leave(terminal);
    let terminal = home.command(["chat", "--agent", "absent"]).on_terminal();
    until_shown(&terminal, "not running");
    leave(terminal);
}
