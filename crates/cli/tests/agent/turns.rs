//! Turns: text and calls of the model, and stop reasons.

use mw_testkit::model_endpoint::{Answer, Finish, ModelEndpoint};
use serde_json::json;

use crate::editor::Editor;
use crate::{KEY, home};

#[test]
fn a_response_is_streamed_as_it_arrives() {
    let endpoint = ModelEndpoint::new();
    let home = home(&endpoint);
    endpoint.will(Answer::empty().thought("hm").and_text("two words").hold().and_text(" more").usage(120, 7));
    let mut editor = Editor::new(&home);
    let id = editor.begin("say something");
    assert_eq!(editor.update("agent_thought_chunk")["content"]["text"], "hm");
    assert_eq!(editor.update("agent_message_chunk")["content"]["text"], "two ");
    endpoint.release();
    let turn = editor.end(id);
    assert_eq!((turn.reason(), turn.said().as_str()), ("end_turn", "two words more"));
    let usage = &turn.of("usage_update")[0];
    assert_eq!((usage["used"].as_u64(), usage["size"].as_u64()), (Some(127), Some(128_000)));
    let asked = endpoint.request(0);
    assert_eq!(asked.last_text(), "say something");
    assert_eq!(asked.header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    for tool in ["shell", "task_wait", "read_file", "write_file", "edit_file", "glob", "grep"] {
        assert!(asked.tools().iter().any(|name| name == tool), "{tool}: {:?}", asked.tools());
    }
}

#[test]
fn the_output_of_a_command_is_sent_to_the_model() {
    let endpoint = ModelEndpoint::new();
    let home = home(&endpoint);
    endpoint.will(Answer::text("I look.").call("shell", json!({"command": "echo one; echo two"})));
    endpoint.will(Answer::text("Two lines."));
    let mut editor = Editor::new(&home);
    let turn = editor.turn("what does it print?");
    assert_eq!((turn.reason(), turn.said().as_str()), ("end_turn", "I look.Two lines."));
    let call = &turn.of("tool_call")[0];
    assert_eq!(
        (call["title"].as_str(), call["kind"].as_str()),
        (Some("echo one; echo two"), Some("execute"))
    );
    let [(status, text)] = &turn.results()[..] else { panic!("{:?}", turn.results()) };
    assert!(status == "completed" && text.contains("one\ntwo"), "{status} {text}");
    assert!(endpoint.request(1).says("one\ntwo"));
}

#[test]
fn a_turn_ends_with_its_stop_reason() {
    let endpoint = ModelEndpoint::new();
    let home = home(&endpoint).with_env("MEANWHILE_AGENT_MAX_REQUESTS", "2");
    endpoint.will(Answer::text("half").finish(Finish::Length));
    endpoint.will(Answer::text("no").finish(Finish::Refusal));
    let mut editor = Editor::new(&home);
    assert_eq!(editor.turn("one").reason(), "max_tokens");
    assert_eq!(editor.turn("two").reason(), "refusal");
    endpoint.otherwise(|_| Answer::empty().call("task_list", json!({})));
    assert_eq!(editor.turn("three").reason(), "max_turn_requests");
    assert_eq!(endpoint.requests().len(), 4);
}
