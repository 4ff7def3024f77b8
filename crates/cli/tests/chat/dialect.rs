//! Dialects in a chat: the tools of the model, and the names of tasks.

use mw_testkit::model_endpoint::{Answer, ModelEndpoint, ModelRequest};
use mw_testkit::need_program;
use serde_json::json;

use super::*;

fn tools(request: &ModelRequest) -> Vec<String> {
    let tools = request.body["tools"].as_array().unwrap();
    tools.iter().map(|tool| tool["function"]["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn the_model_gets_the_tools_of_the_dialect() {
    need_program("bash");
    let endpoint = ModelEndpoint::new();
    let home = home(&endpoint).with_env("MEANWHILE_CHAT_AUTO_WAKE", "false");
    let command = json!({"command": "sleep 600", "run_in_background": true});
    endpoint.will(Answer::empty().call("Bash", command));
    endpoint.will(Answer::text("It runs."));
    let mut terminal = chat_with(&home, &["chat", "--dialect", "mycode", "--mode", "dangerous"]);
    terminal.resize(140, 40);
    say(&mut terminal, "run it");
    until_shown(&terminal, "It runs.");
    let offered = tools(&endpoint.request(0));
    for tool in ["Bash", "Task", "TaskOutput", "KillShell"] {
        assert!(offered.iter().any(|name| name == tool), "{tool}: {offered:?}");
    }
    assert!(!offered.iter().any(|name| name == "shell" || name.starts_with("task_")), "{offered:?}");
    let said = endpoint.request(1).body.to_string();
    assert!(said.contains("Background Task Started"), "{said}");
    say(&mut terminal, "/tasks");
    let screen = until_shown(&terminal, "Use TaskOutput tool to get task output.");
    assert!(screen.text.contains("⏳"), "{}", screen.text);
}

/// The sentence is the same in every dialect.
#[test]
fn the_instructions_say_that_tasks_end_with_the_chat() {
    let endpoint = ModelEndpoint::new();
    for (dialect, tool) in [("canonical", "shell"), ("zidane", "shell"), ("co-cli", "start_background_task")]
    {
        let home = home(&endpoint).with_env("MEANWHILE_CHAT_AUTO_WAKE", "false");
        let given = json!({"command": "sleep 600", "description": "wait", "run_in_background": true});
        endpoint.will(Answer::empty().call(tool, given));
        endpoint.will(Answer::text("It runs."));
        let before = endpoint.requests().len();
        let mut terminal = chat_with(&home, &["chat", "--dialect", dialect, "--mode", "dangerous"]);
        say(&mut terminal, "run it");
        until_shown(&terminal, "It runs.");
        let said = endpoint.request(before + 1).body.to_string();
        assert!(said.contains("Tasks end with this session."), "{dialect}: {said}");
        assert!(!said.contains("outlive you"), "{dialect}: {said}");
        assert!(!said.contains("It keeps running when this session ends."), "{dialect}: {said}");
    }
}

/// Tools of other dialects are not mentioned.
#[test]
fn the_task_list_names_only_commands_of_the_chat() {
    let endpoint = ModelEndpoint::new();
    let home = home(&endpoint);
    let mut terminal = chat(&home);
    say(&mut terminal, "/background sleep 600");
    until_shown(&terminal, "Started background");
    say(&mut terminal, "/tasks");
    let screen = until_shown(&terminal, "Use /status ID to get task output.");
    assert!(!screen.text.contains("TaskOutput"), "{}", screen.text);
}

/// A conversation uses the terms, names and paths of one dialect.
#[test]
fn terms_and_paths_follow_the_dialect() {
    let endpoint = ModelEndpoint::new();
    let home = home(&endpoint).with_env("MEANWHILE_CHAT_AUTO_WAKE", "false");
    let home = home.with_env("MEANWHILE_QUEUE_MAX_RUNNING", "1");
    endpoint.will(Answer::empty().call("shell", json!({"command": "sleep 600", "run_in_background": true})));
    endpoint.will(Answer::text("It runs."));
    let mut terminal = chat_with(&home, &["chat", "--dialect", "zidane", "--mode", "dangerous"]);
    terminal.resize(160, 50);
    say(&mut terminal, "run it");
    until_shown(&terminal, "It runs.");
    until_shown(&terminal, "in the background as bash_1: sleep 600");
    say(&mut terminal, "/background true");
    until_shown(&terminal, "Queued background task bash_2");
    until_shown(&terminal, "⌁ 1 task ");
    terminal.press(CTRL_B);
    let said = endpoint.request(1).last_text();
    let log = said.split_whitespace().find(|word| word.ends_with(".log")).unwrap();
    let name = log.rsplit('/').next().unwrap();
    assert!(name.starts_with("bash_1."), "{said}");
    until_shown(&terminal, name);
    terminal.press(ESC);
    until_gone(&terminal, name);
    say(&mut terminal, "/cancel bash_1");
    until_shown(&terminal, "⌁ bash_2 exited (0)");
    say(&mut terminal, "/cancel bash_2");
    until_shown(&terminal, "Task bash_2 is not running (status: exited).");
    say(&mut terminal, "/tasks killed");
    let screen = until_shown(&terminal, "Background Tasks:");
    let listed = &screen.text[screen.text.rfind("Background Tasks:").unwrap()..];
    assert!(listed.contains("bash_1") && !listed.contains("bash_2"), "{listed}");
    say(&mut terminal, "/tasks bogus");
    until_shown(&terminal, "choose one of running, exited, killed.");
    leave(terminal);
}

#[test]
fn the_profile_chooses_the_dialect() {
    let endpoint = ModelEndpoint::new();
    let home = home(&endpoint).with_env("MEANWHILE_PROFILE", "opta");
    endpoint.will(Answer::text("yes"));
    let mut terminal = chat(&home);
    say(&mut terminal, "are you there?");
    until_shown(&terminal, "yes");
    let offered = tools(&endpoint.request(0));
    assert!(offered.iter().any(|name| name == "bg_start"), "{offered:?}");
    leave(terminal);
}

/// A foreground command has the name that it keeps in the background.
#[test]
fn a_foreground_command_is_listed_with_its_final_log_path() {
    need_program("bash");
    let endpoint = ModelEndpoint::new();
    let home = home(&endpoint).with_env("MEANWHILE_CHAT_AUTO_WAKE", "false");
    endpoint.will(Answer::empty().call("Bash", json!({"command": "sleep 600"})));
    endpoint.will(Answer::text("It goes on."));
    let mut terminal = chat_with(&home, &["chat", "--dialect", "mycode", "--mode", "dangerous"]);
    terminal.resize(160, 50);
    say(&mut terminal, "run it");
    until_shown(&terminal, "Ctrl-B Ctrl-B to background");
    terminal.press(CTRL_B);
    let id = home.list()[0]["id"].as_str().unwrap().to_owned();
    let name = format!("tasks/{id}.log");
    until_shown(&terminal, &name);
    terminal.press(CTRL_B);
    until_shown(&terminal, "It goes on.");
    let said = endpoint.request(1).last_text();
    assert!(said.contains("Moved to the background by the user"), "{said}");
    assert!(said.replace(['│', '\n', ' '], "").contains(&format!("{id}.log")), "{said}");
    terminal.press(CTRL_B);
    until_shown(&terminal, &name);
}
