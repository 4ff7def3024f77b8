//! The settings of chats take effect, from the file and from the environment.

use std::fs;

use mw_testkit::model_endpoint::{Answer, ModelEndpoint};
use serde_json::json;

use super::*;

/// Creates two homes: one with a setting in the user's file, one in the environment.
fn both_ways(endpoint: &ModelEndpoint, name: &str, value: &str) -> [Home; 2] {
    let (section, key) = name.split_once('.').unwrap();
    let with_file = home(endpoint);
    let file = with_file.user().join(".config/meanwhile/config.toml");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, format!("[{section}]\n{key} = {value}\n")).unwrap();
    let variable = format!("MEANWHILE_{}", name.to_uppercase().replace('.', "_"));
    [with_file, home(endpoint).with_env(variable, value.trim_matches('"'))]
}

#[test]
fn chat_auto_wake_takes_effect() {
    let endpoint = ModelEndpoint::new();
    for home in both_ways(&endpoint, "chat.auto_wake", "false") {
        let script = mw_testkit::children::gated("go", 3);
        endpoint.will(Answer::empty().call("shell", json!({"command": script, "run_in_background": true})));
        endpoint.will(Answer::text("It runs."));
        endpoint.will(Answer::text("Now I know."));
        let before = endpoint.requests().len();
        let mut terminal = chat(&home);
        say(&mut terminal, "go");
        until_shown(&terminal, "It runs.");
        until_shown(&terminal, "· ready");
        // The task ends while the chat is idle.
        home.open("go");
        until_shown(&terminal, " failed (3)");
        say(&mut terminal, "/tasks");
        until_shown(&terminal, "Use /status ID to get task output.");
        assert_eq!(endpoint.requests().len(), before + 2, "no turn starts without input");
        say(&mut terminal, "and?");
        until_shown(&terminal, "Now I know.");
        let delivered = endpoint.request(before + 2).last_text();
        assert!(delivered.starts_with("<task-notification>") && delivered.ends_with("and?"), "{delivered}");
        leave(terminal);
    }
}

#[test]
fn chat_layout_takes_effect() {
    let endpoint = ModelEndpoint::new();
    for home in both_ways(&endpoint, "chat.layout", "\"boxed\"") {
        let mut terminal = chat(&home);
        say(&mut terminal, "/background sleep 600");
        until_shown(&terminal, "┌─ Background Task Started ─");
        say(&mut terminal, "/tasks");
        until_shown(&terminal, "│ Status  ID");
    }
    let plain = home(&endpoint);
    let mut terminal = chat(&plain);
    say(&mut terminal, "/background sleep 600");
    until_shown(&terminal, "Started background task bash-");
    say(&mut terminal, "/tasks");
    until_shown(&terminal, "Use /status ID to get task output.");
}

/// without a layout setting, the profile decides.
#[test]
fn the_profile_chooses_the_layout() {
    let endpoint = ModelEndpoint::new();
    let home = home(&endpoint).with_env("MEANWHILE_PROFILE", "co-cli");
    let mut terminal = chat(&home);
    terminal.resize(140, 40);
    say(&mut terminal, "/background sleep 600");
    until_shown(&terminal, "Started background");
    say(&mut terminal, "/tasks");
    until_shown(&terminal, "Description");
}
