//! Clients that misbehave.

use std::time::Duration;

use mw_testkit::SOON;
use mw_testkit::model_endpoint::{Answer, ModelEndpoint};
use rustix::process::Signal;
use serde_json::json;

use crate::editor::Editor;
use crate::home;

#[test]
fn malformed_messages_get_errors_and_the_session_continues() {
    let endpoint = ModelEndpoint::new();
    let home = home(&endpoint);
    endpoint.will(Answer::text("still here"));
    let mut editor = Editor::new(&home);
    for line in ["not json\n", "[]\n", "{}\n", "\"text\"\n", "\n", "{\"jsonrpc\":\"2.0\",\"method\":5}\n"] {
        editor.host.server.say(line.as_bytes()).unwrap();
    }
    for (method, params) in [
        ("no/such/method", json!({})),
        ("session/prompt", json!({})),
        ("session/prompt", json!({"sessionId": "nobody", "prompt": []})),
        ("session/new", json!({"cwd": "relative", "mcpServers": []})),
        ("session/new", json!({"cwd": "/does/not/exist", "mcpServers": []})),
        ("session/load", json!({"sessionId": "../../etc", "cwd": home.work(), "mcpServers": []})),
        ("session/set_mode", json!({"sessionId": "nobody", "modeId": "auto"})),
    ] {
        let answer = editor.ask(method, &params);
        assert!(answer.get("error").is_some(), "{method}: {answer}");
    }
    assert_eq!(editor.turn("are you?").said(), "still here");
}

#[test]
fn a_newer_client_gets_the_supported_protocol_version() {
    let endpoint = ModelEndpoint::new();
    let home = home(&endpoint);
    endpoint.will(Answer::text("fine"));
    let mut editor = Editor::silent(home.command(["acp"]));
    let hello =
        editor.ask("initialize", &json!({"protocolVersion": 7, "clientCapabilities": {"new": {"thing": 1}}}));
    assert_eq!(hello["result"]["protocolVersion"], 1, "{hello}");
    let opened = editor.ask("session/new", &json!({"cwd": home.work(), "mcpServers": [], "strange": true}));
    editor.session = opened["result"]["sessionId"].as_str().unwrap_or_else(|| panic!("{opened}")).to_owned();
    assert_eq!(editor.turn("go").said(), "fine");
}

#[test]
fn a_second_prompt_is_refused_during_a_turn() {
    let endpoint = ModelEndpoint::new();
    let home = home(&endpoint);
    endpoint.will(Answer::text("first").hold());
    let mut editor = Editor::new(&home);
    let first = editor.begin("one");
    editor.update("agent_message_chunk");
    let second = editor.turn("two");
    assert!(second.error().contains("is running"), "{}", second.error());
    let load = json!({"sessionId": editor.session.clone(), "cwd": home.work(), "mcpServers": []});
    assert!(editor.ask("session/load", &load)["error"]["message"].as_str().unwrap().contains("is running"));
    endpoint.release();
    assert_eq!(editor.end(first).reason(), "end_turn");
    assert_eq!(endpoint.requests().len(), 1);
}

#[test]
fn two_sessions_run_in_parallel() {
    let endpoint = ModelEndpoint::new();
    let home = home(&endpoint);
    endpoint.otherwise(|request| {
        let answer = Answer::text(if request.says("first") { "one" } else { "two" });
        if request.says("first") { answer.hold() } else { answer }
    });
    let mut editor = Editor::new(&home);
    let first = editor.begin("first");
    let held = editor.session.clone();
    let opened = editor.ask("session/new", &json!({"cwd": home.work(), "mcpServers": []}));
    editor.session = opened["result"]["sessionId"].as_str().unwrap().to_owned();
    assert_ne!(editor.session, held);
    let second = editor.begin("second");
    let answer = editor.host.until("the end of the second turn", |message| message["id"] == second);
    assert_eq!(answer["result"]["stopReason"], "end_turn");
    endpoint.release();
    assert_eq!(editor.end(first).reason(), "end_turn");
}

#[test]
fn a_client_that_disconnects_during_a_turn_ends_the_agent_but_no_task() {
    let endpoint = ModelEndpoint::new();
    let home = home(&endpoint);
    endpoint.will(Answer::empty().call("shell", json!({"command": "echo $$ > pid; sleep 600"})));
    let mut editor = Editor::of(&home, home.command(["acp", "--mode", "dangerous"]));
    editor.begin("go");
    let pid = home.pid_in("pid");
    editor.host.server.close();
    assert_eq!(editor.host.server.wait(SOON), Some(0));
    assert!(mw_testkit::alive(pid));
}

#[test]
fn a_signal_ends_the_agent_during_a_response() {
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        let endpoint = ModelEndpoint::new();
        let home = home(&endpoint);
        endpoint.will(Answer::text("well").hold());
        let mut editor = Editor::new(&home);
        editor.begin("go");
        editor.update("agent_message_chunk");
        editor.host.server.signal(signal);
        assert_eq!(editor.host.server.wait(Duration::from_secs(80)), Some(0), "{signal:?}");
    }
}
