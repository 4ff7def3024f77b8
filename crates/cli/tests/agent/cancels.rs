//! Cancelled turns: everything stops at once, and the session continues.

use mw_testkit::model_endpoint::{Answer, ModelEndpoint};
use mw_testkit::{SOON, wait_until};
use serde_json::json;

use crate::editor::Editor;
use crate::home;

#[test]
fn a_cancel_stops_a_streaming_model_response() {
    let endpoint = ModelEndpoint::new();
    let home = home(&endpoint);
    endpoint.will(Answer::text("well").hold()).will(Answer::text("again"));
    let mut editor = Editor::new(&home);
    let id = editor.begin("go");
    editor.update("agent_message_chunk");
    editor.cancel();
    assert_eq!(editor.end(id).reason(), "cancelled");
    wait_until(SOON, "the stream was dropped", || (endpoint.abandoned() == 1).then_some(()));
    assert_eq!(editor.turn("go on").said(), "again");
    // The text that the user has seen is kept.
    assert!(endpoint.request(1).says("well"));
}

#[test]
fn a_cancel_sent_right_after_the_prompt_ends_the_turn() {
    let endpoint = ModelEndpoint::new();
    let home = home(&endpoint);
    let mut editor = Editor::new(&home);
    for _ in 0..20 {
        endpoint.will(Answer::text("well").hold());
        let id = editor.begin("go");
        editor.cancel();
        assert_eq!(editor.end(id).reason(), "cancelled");
    }
}

#[test]
fn a_cancel_kills_the_foreground_command_and_skips_the_remaining_calls() {
    let endpoint = ModelEndpoint::new();
    let home = home(&endpoint);
    let call = json!({"command": "echo $$ > pid; sleep 600"});
    let other = json!({"command": "touch other"});
    endpoint.will(Answer::empty().call("shell", call).call("shell", other)).will(Answer::text("again"));
    let mut editor = Editor::of(&home, home.command(["acp", "--mode", "dangerous"]));
    let id = editor.begin("go");
    let pid = home.pid_in("pid");
    editor.cancel();
    let turn = editor.end(id);
    assert_eq!((turn.reason(), turn.results()[0].1.as_str()), ("cancelled", "cancelled by the user"));
    wait_until(SOON, "the command has ended", || (!mw_testkit::alive(pid)).then_some(()));
    // The model gets results for both calls, and the end is not notified.
    assert_eq!(editor.turn("go on").said(), "again");
    let asked = endpoint.request(1);
    assert!(asked.says("cancelled by the user") && asked.says("not run"));
    assert!(!asked.says("<task-id>"), "{}", asked.body);
    assert!(!home.work().join("other").exists());
}

#[test]
fn an_unanswered_permission_request_can_be_cancelled() {
    let endpoint = ModelEndpoint::new();
    let home = home(&endpoint);
    endpoint.will(Answer::empty().call("shell", json!({"command": "rm x"})));
    let mut editor = Editor::new(&home);
    let id = editor.begin("go");
    editor.asked("session/request_permission");
    editor.cancel();
    assert_eq!(editor.end(id).reason(), "cancelled");
}

#[test]
fn a_wait_before_a_retry_can_be_cancelled() {
    let endpoint = ModelEndpoint::new();
    let home = home(&endpoint);
    endpoint.will(Answer::status(429, "slow down").header("retry-after", "50"));
    let mut editor = Editor::new(&home);
    let id = editor.begin("go");
    editor.update("agent_thought_chunk");
    editor.cancel();
    assert_eq!(editor.end(id).reason(), "cancelled");
}

#[test]
fn a_cancel_request_for_the_prompt_ends_the_turn() {
    let endpoint = ModelEndpoint::new();
    let home = home(&endpoint);
    endpoint.will(Answer::text("well").hold());
    let mut editor = Editor::new(&home);
    let id = editor.begin("go");
    editor.update("agent_message_chunk");
    editor.host.send(&json!({"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": id}}));
    assert_eq!(editor.end(id).reason(), "cancelled");
}
