//! The context of the model: project instructions, and a conversation that is summarised to fit.

use std::fs;

use mw_testkit::model_endpoint::{Answer, ModelEndpoint};
use serde_json::json;

use crate::editor::Editor;
use crate::home;

#[test]
fn project_instructions_come_before_the_conversation() {
    let endpoint = ModelEndpoint::new();
    let home = home(&endpoint);
    fs::write(home.work().join("CLAUDE.md"), "second choice").unwrap();
    fs::write(home.work().join("AGENTS.md"), "Never use tabs.").unwrap();
    endpoint.will(Answer::text("ok"));
    Editor::new(&home).turn("hello");
    let asked = endpoint.request(0);
    let first = asked.messages().remove(0);
    assert_eq!(first["role"], "system");
    let text = first["content"].as_str().unwrap();
    assert!(text.contains("Never use tabs.") && !text.contains("second choice"), "{text}");
    assert!(text.contains("<task-notification>"), "{text}");
}

#[test]
fn a_long_conversation_is_summarised_and_its_last_messages_are_kept() {
    let endpoint = ModelEndpoint::new();
    let home = home(&endpoint).with_env("MEANWHILE_AGENT_CONTEXT_TOKENS", "10000");
    let mut editor = Editor::new(&home);
    endpoint.will(Answer::text(&format!("old {}", "words ".repeat(200))));
    editor.turn("the first wish");
    // The model reports that its context is nearly full.
    endpoint.will(Answer::text("middle").usage(9000, 100));
    editor.turn("the second wish");
    endpoint.will(Answer::text("SUMMARY: two wishes")).will(Answer::text("fresh"));
    let turn = editor.turn("the third wish");
    assert_eq!(turn.said(), "fresh");
    assert!(turn.thought().contains("earlier messages were summarised"), "{}", turn.thought());
    let summing = endpoint.request(2);
    assert!(summing.says("the first wish") && summing.says("Summarise") && summing.tools().is_empty());
    let asked = endpoint.request(3);
    assert!(asked.says("SUMMARY: two wishes") && asked.says("the third wish"), "{}", asked.body);
    assert!(!asked.says("the first wish") && !asked.says("old words"), "{}", asked.body);
    // The next process uses the summary too.
    let session = editor.session.clone();
    drop(editor);
    let mut editor = Editor::greeting(home.command(["acp"]), &json!({}));
    let shown = editor.load(&home, &session);
    assert!(shown.said().contains("old words"));
    endpoint.will(Answer::text("later"));
    editor.turn("the fourth wish");
    assert!(endpoint.request(4).says("SUMMARY: two wishes") && !endpoint.request(4).says("the first wish"));
}

#[test]
fn summarising_a_long_turn_keeps_the_prompt_and_pairs_of_calls_and_results() {
    let endpoint = ModelEndpoint::new();
    let home = home(&endpoint).with_env("MEANWHILE_AGENT_CONTEXT_TOKENS", "10000");
    fs::write(home.work().join("long"), "line of text\n".repeat(3000)).unwrap();
    let reads = || Answer::empty().call("read_file", json!({"path": "long"}));
    endpoint.will(reads()).will(Answer::text("SUMMARY: read it")).will(Answer::text("done"));
    let turn = Editor::new(&home).turn("read the long file");
    // The result nearly fills the context: it stays with its call, and only the prompt can be summarised.
    assert_eq!(turn.said(), "done");
    let asked = endpoint.request(2);
    let roles: Vec<_> =
        asked.messages().iter().map(|message| message["role"].as_str().unwrap().to_owned()).collect();
    assert_eq!(roles, ["system", "user", "assistant", "tool"]);
    assert!(asked.says("SUMMARY: read it") && asked.says("read the long file"), "{}", asked.body);
}

#[test]
fn a_failed_summary_is_reported_and_the_turn_continues() {
    let endpoint = ModelEndpoint::new();
    let home = home(&endpoint).with_env("MEANWHILE_AGENT_CONTEXT_TOKENS", "10000");
    let mut editor = Editor::new(&home);
    endpoint.will(Answer::text("answer").usage(9500, 100));
    editor.turn("the first wish");
    endpoint.will(Answer::status(400, "too long")).will(Answer::text("fresh"));
    let turn = editor.turn("the second wish");
    assert_eq!(turn.said(), "fresh");
    assert!(turn.thought().contains("2 earlier messages are omitted from this turn"), "{}", turn.thought());
    assert!(endpoint.request(2).says("2 later messages are omitted for now"));
    // The messages are not lost: the next turn summarises them, also in another process.
    let session = editor.session.clone();
    endpoint.will(Answer::text("SUMMARY: two wishes")).will(Answer::text("later"));
    assert_eq!(editor.turn("the third wish").said(), "later");
    assert!(endpoint.request(3).says("Summarise") && endpoint.request(3).says("the first wish"));
    let asked = endpoint.request(4);
    assert!(asked.says("SUMMARY: two wishes") && !asked.says("omitted for now"), "{}", asked.body);
    drop(editor);
    let mut editor = Editor::greeting(home.command(["acp"]), &json!({}));
    editor.load(&home, &session);
    endpoint.will(Answer::text("at last"));
    editor.turn("the fourth wish");
    let asked = endpoint.request(5);
    assert!(asked.says("SUMMARY: two wishes") && !asked.says("omitted for now"), "{}", asked.body);
}
