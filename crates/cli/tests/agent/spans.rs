//! Spans of turns and calls, and their child spans.

use mw_testkit::model_endpoint::{Answer, ModelEndpoint};
use mw_testkit::{SOON, wait_until};
use serde_json::{Value, json};

use crate::editor::Editor;
use crate::home;

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const HOST: &str = "00f067aa0ba902b7";

/// Returns the one span of that name.
fn named<'a>(spans: &'a [Value], name: &str) -> &'a Value {
    let found: Vec<_> = spans.iter().filter(|span| span["name"] == name).collect();
    let [span] = found[..] else { panic!("{} spans are named {name}: {spans:?}", found.len()) };
    span
}

#[test]
fn a_turn_its_calls_and_their_tasks_are_one_trace() {
    let endpoint = ModelEndpoint::new();
    let home = home(&endpoint).with_env("TRACEPARENT", format!("00-{TRACE}-{HOST}-01"));
    let command = json!({"command": "echo one; echo two", "run_in_background": true});
    endpoint.will(Answer::text("I look.").call("shell", command).usage(100, 7));
    endpoint.will(Answer::empty().call("read_file", json!({"path": "not-there"})).usage(120, 3));
    endpoint.will(Answer::text("Done.").usage(130, 1));
    let mut editor = Editor::new(&home);
    assert_eq!(editor.turn("try it").reason(), "end_turn");
    let spans = wait_until(SOON, "the run has ended", || {
        let trace = home.mw(["traces", "--json", "--span", TRACE]).exits(0).json();
        let spans = trace["spans"].as_array().unwrap().clone();
        let ended = |span: &Value| span["name"] == "background_task_execute" && span["ended_at"].is_string();
        spans.iter().any(ended).then_some(spans)
    });
    let turn = named(&spans, "chat_turn");
    assert_eq!(turn["parent_span_id"], HOST, "{turn}");
    assert_eq!((&turn["task"], &turn["error"]), (&Value::Null, &Value::Null), "{turn}");
    let facts = &turn["attributes"];
    assert_eq!(facts["agent.model"], "scripted", "{turn}");
    assert_eq!(facts["agent.stop_reason"], "end_turn", "{turn}");
    assert_eq!((&facts["agent.input_tokens"], &facts["agent.output_tokens"]), (&json!(350), &json!(11)));
    // co-cli's order: the turn, the start, the run, and below it the tool.
    let start = named(&spans, "background_task_start");
    assert_eq!(start["parent_span_id"], turn["span_id"], "{start}");
    let run = named(&spans, "background_task_execute");
    assert_eq!(run["parent_span_id"], start["span_id"], "{run}");
    let call = named(&spans, "tool_shell");
    assert_eq!(call["parent_span_id"], run["span_id"], "{call}");
    let refused = named(&spans, "tool_read_file");
    assert_eq!(refused["parent_span_id"], turn["span_id"], "{refused}");
    assert!(refused["error"].is_string(), "{refused}");
    let tree = home.mw(["traces", "--span", TRACE]).ok();
    assert!(tree.contains("chat_turn") && tree.contains("  tool_shell"), "{tree}");
}

#[test]
fn without_a_host_trace_every_turn_is_a_separate_trace_of_its_session() {
    let endpoint = ModelEndpoint::new();
    let home = home(&endpoint);
    endpoint.otherwise(|_| Answer::text("yes"));
    let mut editor = Editor::new(&home);
    editor.turn("one");
    editor.turn("two");
    let listed = home.mw(["traces", "--json"]).exits(0).json();
    let traces = listed["traces"].as_array().unwrap();
    assert_eq!(traces.len(), 2, "{listed}");
    assert!(traces.iter().all(|trace| trace["spans"][0]["parent_span_id"].is_null()), "{listed}");
    let others = home.command(["traces", "--json"]).session("other").run().json();
    assert_eq!(others["traces"], json!([]));
}

#[test]
fn spans_wait_for_export_while_the_receiver_is_unreachable() {
    let endpoint = ModelEndpoint::new();
    // A port without a listener.
    let home = home(&endpoint).with_env("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9");
    endpoint.will(Answer::empty().call("task_list", json!({})));
    endpoint.will(Answer::text("none"));
    let mut editor = Editor::new(&home);
    editor.turn("which?");
    let state = home.mw(["traces", "--json"]).exits(0).json();
    assert_eq!(state["export"]["waiting"], 2, "{state}");
}
