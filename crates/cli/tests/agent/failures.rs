//! Failing endpoints: the client gets the reason and a next step, nothing hangs, and no key is shown.

use std::fs;
use std::time::{Duration, Instant};

use mw_testkit::Home;
use mw_testkit::model_endpoint::{Answer, ModelEndpoint};
use serde_json::json;

use crate::editor::{Editor, Turn};
use crate::{KEY, home};

fn turn(endpoint: &ModelEndpoint) -> Turn {
    let home = home(endpoint);
    Editor::new(&home).turn("go")
}

#[test]
fn a_wrong_key_is_reported_without_its_value() {
    let endpoint = ModelEndpoint::new();
    endpoint.will(Answer::status(401, &format!("Incorrect API key provided: {KEY}")));
    let turn = turn(&endpoint);
    assert!(
        turn.error().contains("answered 401: Incorrect API key provided: [redacted:key]"),
        "{}",
        turn.error()
    );
    assert!(turn.error().contains("check the key"), "{}", turn.error());
    assert_eq!(turn.answer["error"]["data"]["code"], "model_unauthorized");
    assert_eq!(endpoint.requests().len(), 1);
}

#[test]
fn a_rate_limited_request_is_retried_after_the_requested_delay() {
    let endpoint = ModelEndpoint::new();
    endpoint.will(Answer::status(429, "slow down").header("retry-after", "1")).will(Answer::text("done"));
    let begun = Instant::now();
    let turn = turn(&endpoint);
    assert_eq!((turn.reason(), turn.said().as_str()), ("end_turn", "done"));
    assert!(begun.elapsed() >= Duration::from_secs(1));
    assert!(turn.thought().contains("answered 429: slow down; retrying in 1.0 s"), "{}", turn.thought());
}

#[test]
fn a_rate_limit_that_lasts_too_long_is_reported_at_once() {
    let endpoint = ModelEndpoint::new();
    endpoint.will(Answer::status(429, "come back tomorrow").header("retry-after", "86400"));
    let turn = turn(&endpoint);
    assert!(turn.error().contains("come back tomorrow"), "{}", turn.error());
    assert_eq!(endpoint.requests().len(), 1);
}

#[test]
fn requests_to_a_failing_endpoint_are_retried_a_limited_number_of_times() {
    let endpoint = ModelEndpoint::new();
    endpoint
        .will(Answer::status(500, "oops"))
        .will(Answer::status(503, "wait").header("retry-after-ms", "1"));
    endpoint.will(Answer::text("back"));
    assert_eq!(turn(&endpoint).said(), "back");
    let endpoint = ModelEndpoint::new();
    endpoint.otherwise(|_| Answer::status(529, "overloaded").header("retry-after-ms", "1"));
    let turn = turn(&endpoint);
    assert!(turn.error().contains("answered 529: overloaded"), "{}", turn.error());
    assert_eq!(endpoint.requests().len(), 5);
}

#[test]
fn a_broken_stream_is_retried_only_before_its_first_text() {
    let endpoint = ModelEndpoint::new();
    endpoint.will(Answer::empty().cut()).will(Answer::text("whole"));
    assert_eq!(turn(&endpoint).said(), "whole");
    let endpoint = ModelEndpoint::new();
    let home = home(&endpoint);
    endpoint.will(Answer::text("half of it").cut()).will(Answer::text("the rest"));
    let mut editor = Editor::new(&home);
    let cut = editor.turn("go");
    assert!(cut.error().contains("was interrupted") && cut.error().contains("go on"), "{}", cut.error());
    assert_eq!(cut.said(), "half of it");
    // The shown text is kept, and a stream without an end is not a complete response.
    assert_eq!(editor.turn("go on").said(), "the rest");
    assert!(endpoint.request(1).says("half of it"));
}

#[test]
fn a_malformed_response_is_reported_as_malformed() {
    for raw in ["data: {\"choices\": nonsense}\n\n", "data: \u{0}\u{1}\n\n"] {
        let endpoint = ModelEndpoint::new();
        endpoint.will(Answer::empty().raw(raw));
        let turn = turn(&endpoint);
        assert!(turn.error().contains("invalid response"), "{}", turn.error());
    }
    let endpoint = ModelEndpoint::new();
    endpoint.will(Answer::empty().raw([0xff, 0xfe, 0xfd]));
    assert!(turn(&endpoint).error().contains("invalid response"));
    let endpoint = ModelEndpoint::new();
    endpoint.otherwise(|_| Answer::empty().raw("data: {\"error\": {\"message\": \"brain melted\"}}\n\n"));
    assert!(turn(&endpoint).error().contains("brain melted"));
}

#[test]
fn an_endless_response_is_aborted() {
    let endpoint = ModelEndpoint::new();
    let mut answer = Answer::empty();
    for _ in 0..9 {
        answer = answer.and_text(&"x".repeat(1 << 20));
    }
    endpoint.will(answer.hold());
    let turn = turn(&endpoint);
    assert!(turn.error().contains("did not end"), "{}", turn.error());
}

#[test]
fn a_silent_endpoint_ends_the_turn() {
    let endpoint = ModelEndpoint::new();
    let home = home(&endpoint).with_env("MEANWHILE_AGENT_SILENCE_MS", "300");
    endpoint.will(Answer::text("well").hold());
    let turn = Editor::new(&home).turn("go");
    assert!(
        turn.error().contains("stopped in the middle of its answer")
            && turn.error().contains("agent.silence_ms"),
        "{}",
        turn.error()
    );
}

#[test]
fn an_unreachable_endpoint_is_named_in_the_error() {
    let endpoint = ModelEndpoint::new();
    let home = home(&endpoint).with_env("OPENAI_BASE_URL", "http://user:pw@127.0.0.1:1/v1");
    let turn = Editor::new(&home).turn("go");
    assert!(
        turn.error().contains("cannot reach openai/scripted at http://127.0.0.1:1/v1"),
        "{}",
        turn.error()
    );
    assert!(turn.error().contains("OPENAI_BASE_URL"), "{}", turn.error());
}

#[test]
fn a_session_without_a_model_is_refused_with_the_setting_to_set() {
    let home = Home::new(env!("CARGO_BIN_EXE_mw"));
    let mut editor = Editor::greeting(home.command(["acp"]), &json!({}));
    let answer = editor.ask("session/new", &json!({"cwd": home.work(), "mcpServers": []}));
    let message = answer["error"]["message"].as_str().unwrap();
    for word in ["no model endpoint", "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "OLLAMA_HOST", "--model"] {
        assert!(message.contains(word), "{word}: {message}");
    }
    assert_eq!(answer["error"]["code"], -32000);
    editor.until_stderr("OPENAI_API_KEY");
}

#[test]
fn a_key_printed_by_a_command_is_hidden_from_model_client_and_disk() {
    let endpoint = ModelEndpoint::new();
    let home = home(&endpoint);
    fs::write(home.work().join("keys.txt"), format!("key={KEY}\n")).unwrap();
    endpoint.will(Answer::empty().call("shell", json!({"command": "cat keys.txt"})));
    endpoint.will(Answer::empty().call("read_file", json!({"path": "keys.txt"})));
    endpoint.will(Answer::text("seen"));
    let mut editor = Editor::new(&home);
    let turn = editor.turn(&format!("is it {KEY}?"));
    assert_eq!(turn.said(), "seen");
    assert!(!format!("{:?}", turn.updates).contains(KEY));
    assert!(endpoint.requests().iter().all(|request| !request.body.to_string().contains(KEY)));
    let stored = home.state().join("agent-sessions").join(&editor.session).join("transcript.jsonl");
    let stored = fs::read_to_string(stored).unwrap();
    assert!(!stored.contains(KEY) && stored.contains("redacted"), "{stored}");
    assert!(!editor.host.server.stderr_text().contains(KEY));
}
