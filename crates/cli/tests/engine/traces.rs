//! Spans: their parents, their content, that each ends once, and how they are found.

use std::fs;

use mw_testkit::{Home, SOON, children};
use serde_json::Value;

use crate::home;

const HOST: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
const START: &str = "background_task_start";
const EXECUTE: &str = "background_task_execute";

/// Returns the trace of an id, as JSON.
fn trace(home: &Home, name: &str) -> Value {
    home.mw(["traces", "--json", "--span", name]).exits(0).json()
}

fn spans(trace: &Value) -> Vec<Value> {
    trace["spans"].as_array().unwrap().clone()
}

/// Returns the only span of a task with that name.
fn span(trace: &Value, task: &str, name: &str) -> Value {
    let found = spans(trace).into_iter().filter(|span| span["task"] == task && span["name"] == name);
    let found: Vec<_> = found.collect();
    assert_eq!(found.len(), 1, "{name} of {task} in {trace}");
    found[0].clone()
}

fn is_hex(value: &Value, digits: usize) -> bool {
    let text = value.as_str().unwrap_or_default();
    text.len() == digits && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

fn one_at_a_time() -> Home {
    home().with_env("MEANWHILE_QUEUE_MAX_RUNNING", "1")
}

#[test]
fn a_task_has_a_span_for_its_start_and_one_for_its_run() {
    let home = home();
    let id = home.start("exit 3");
    let task = home.ended(&id);
    let trace = trace(&home, &id);
    let (start, execute) = (span(&trace, &id, START), span(&trace, &id, EXECUTE));
    assert!(is_hex(&trace["trace_id"], 32) && is_hex(&start["span_id"], 16), "{trace}");
    assert_eq!(spans(&trace).len(), 2);
    assert_eq!(start["parent_span_id"], Value::Null);
    assert_eq!(execute["parent_span_id"], start["span_id"]);
    assert_eq!(execute["links"], serde_json::json!([start["span_id"]]));
    assert_eq!((&start["started_at"], &start["ended_at"]), (&task["created_at"], &task["started_at"]));
    assert_eq!((&execute["started_at"], &execute["ended_at"]), (&task["started_at"], &task["ended_at"]));
    let attributes = &execute["attributes"];
    for (name, value) in [
        ("task.id", &task["id"]),
        ("task.kind", &task["kind"]),
        ("task.session", &task["session"]),
        ("task.command", &task["command"]),
        ("task.status", &task["status"]),
        ("task.pid", &task["pid"]),
        ("task.exit_code", &task["exit_code"]),
        ("task.cause", &task["cause"]),
        ("task.approved_by", &task["approved_by"]),
        ("task.approved_at", &task["approved_at"]),
    ] {
        assert_eq!(&attributes[name], value, "{name}");
    }
    assert_eq!((&execute["error"], &start["error"]), (&"exited 3".into(), &Value::Null));
}

#[test]
fn the_trace_of_the_host_continues_in_the_task() {
    let home = home().with_env("TRACEPARENT", HOST).with_env("TRACESTATE", "vendor=1");
    let id = home.start("echo $TRACEPARENT $TRACESTATE");
    let task = home.ended(&id);
    let trace = trace(&home, &id);
    assert_eq!(trace["trace_id"], "4bf92f3577b34da6a3ce929d0e0e4736");
    assert_eq!(span(&trace, &id, START)["parent_span_id"], "00f067aa0ba902b7");
    let expected =
        format!("00-4bf92f3577b34da6a3ce929d0e0e4736-{}-01 vendor=1\n", task["span_id"].as_str().unwrap());
    assert_eq!(String::from_utf8(home.log(&id)).unwrap(), expected);
}

#[test]
fn an_unsampled_trace_of_the_host_stays_unsampled() {
    let home = home().with_env("TRACEPARENT", HOST.replace("-01", "-00"));
    let id = home.start("echo $TRACEPARENT");
    home.ended(&id);
    assert!(home.log(&id).ends_with(b"-00\n"));
    assert_eq!(spans(&trace(&home, &id)).len(), 2, "its spans are still recorded");
}

#[test]
fn an_invalid_traceparent_is_ignored() {
    for bad in
        ["", "garbage", &HOST.to_uppercase(), "00-00000000000000000000000000000000-00f067aa0ba902b7-01"]
    {
        let home = home().with_env("TRACEPARENT", bad).with_env("TRACESTATE", "of=another");
        let id = home.start("echo $TRACEPARENT; echo state $TRACESTATE");
        let task = home.ended(&id);
        let ids = ["trace_id", "span_id"].map(|name| task[name].as_str().unwrap().to_owned());
        let expected = format!("00-{}-{}-01\nstate\n", ids[0], ids[1]);
        assert_eq!(String::from_utf8(home.log(&id)).unwrap(), expected, "{bad}");
        assert_ne!(ids[0], "4bf92f3577b34da6a3ce929d0e0e4736");
    }
}

#[test]
fn the_span_id_is_in_the_status() {
    let home = home();
    let id = home.start("true");
    let task = home.ended(&id);
    let execute = span(&trace(&home, &id), &id, EXECUTE);
    assert_eq!(task["span_id"], execute["span_id"]);
    assert_eq!(task["trace_id"], execute["trace_id"]);
    let known = execute["span_id"].as_str().unwrap();
    assert!(home.mw(["status", &id]).ok().contains(known));
}

#[test]
fn an_open_span_is_shown_and_ends_once() {
    let home = home();
    let id = home.start(&children::gated("go", 0));
    let running = home.until_status(&id, "running");
    let open = span(&trace(&home, running["span_id"].as_str().unwrap()), &id, EXECUTE);
    assert_eq!((&open["ended_at"], &open["attributes"]["task.status"]), (&Value::Null, &"running".into()));
    home.open("go");
    home.ended(&id);
    for _ in 0..2 {
        let ended = span(&trace(&home, &id), &id, EXECUTE);
        assert_eq!(ended["span_id"], open["span_id"]);
        assert!(ended["ended_at"].is_string(), "{ended}");
    }
}

#[test]
fn a_task_that_never_runs_ends_its_start_span() {
    let home = one_at_a_time();
    let first = home.start(&children::gated("go", 1));
    home.until_status(&first, "running");
    let waiting = home.start("true");
    let behind = home.start_with(&["--after", &first], "true");
    let pending = span(&trace(&home, &waiting), &waiting, START);
    assert_eq!(
        (&pending["ended_at"], &pending["attributes"]["task.status"]),
        (&Value::Null, &"pending".into())
    );
    home.mw(["kill", &waiting]).ok();
    home.open("go");
    home.ended(&first);
    for id in [&waiting, &behind] {
        let task = home.ended(id);
        let trace = trace(&home, id);
        assert_eq!(spans(&trace).len(), 1, "{trace}");
        let start = span(&trace, id, START);
        assert_eq!((&start["ended_at"], &start["span_id"]), (&task["ended_at"], &task["span_id"]));
        assert_eq!(start["attributes"]["task.status"], "cancelled");
        assert_eq!(start["error"], Value::Null, "a cancellation is not an error");
    }
}

#[test]
fn a_lost_task_ends_its_span() {
    let home = home();
    let id = home.start("exec sleep 600");
    home.until_status(&id, "running");
    let pid = home.pid(&id);
    home.kill_supervisors(&id);
    home.kill_process(pid);
    let task = home.ended(&id);
    let execute = span(&trace(&home, &id), &id, EXECUTE);
    assert_eq!(execute["ended_at"], task["ended_at"]);
    assert_eq!(execute["attributes"]["task.status"], task["status"]);
    assert_eq!(execute["error"], task["cause"]);
}

#[test]
fn every_run_has_a_span_linked_to_the_first() {
    let home = home();
    let id = home.start("echo $TRACEPARENT");
    home.ended(&id);
    home.mw(["restart", &id]).ok();
    let task = home.ended(&id);
    let trace = trace(&home, &id);
    let start = span(&trace, &id, START);
    let runs: Vec<_> = spans(&trace).into_iter().filter(|span| span["name"] == EXECUTE).collect();
    assert_eq!(runs.len(), 2, "{trace}");
    assert_eq!(runs[1]["span_id"], task["span_id"]);
    assert_eq!(runs[1]["parent_span_id"], Value::Null, "the first request has ended");
    assert_eq!(runs[1]["links"], serde_json::json!([start["span_id"], runs[0]["span_id"]]));
    assert!(String::from_utf8(home.log(&id)).unwrap().contains(task["span_id"].as_str().unwrap()));
}

#[test]
fn a_rebuilt_database_has_the_same_spans() {
    let home = one_at_a_time().with_env("TRACEPARENT", HOST);
    let gated = home.start(&children::gated("go", 3));
    home.until_status(&gated, "running");
    let cancelled = home.start("true");
    home.mw(["kill", &cancelled]).ok();
    home.open("go");
    home.ended(&gated);
    let again = home.start("exit 4");
    home.ended(&again);
    home.mw(["restart", &again]).ok();
    home.ended(&again);
    home.wait_until_empty(SOON);
    let before = trace(&home, &gated);
    assert_eq!(spans(&before).len(), 6, "{before}");
    home.delete_database();
    assert_eq!(trace(&home, &gated), before);
}

#[test]
fn the_span_of_an_inner_task_is_a_child_of_the_outer_span() {
    let home = home();
    let mw = env!("CARGO_BIN_EXE_mw");
    let outer = home.start(&format!("{mw} run -- true"));
    home.ended(&outer);
    let trace = trace(&home, &outer);
    let outer_run = span(&trace, &outer, EXECUTE);
    let inner = spans(&trace).into_iter().find(|span| span["parent_span_id"] == outer_run["span_id"]);
    assert_eq!(inner.unwrap()["name"], START);
    let text = home.mw(["traces", "--span", &outer]).ok();
    let depths: Vec<_> = text.lines().filter_map(|line| line.split_once("background_task_")).collect();
    let depths: Vec<_> = depths.iter().map(|(before, _)| before.chars().count()).collect();
    assert_eq!(depths.len(), 4, "{text}");
    assert!(depths.windows(2).all(|pair| pair[0] < pair[1]), "{text}");
    // The bars are in one column, and those of the inner task lie within that of the outer one.
    let bars: Vec<_> =
        text.lines().filter_map(|line| line.find(['·', '━']).map(|at| line[..at].chars().count())).collect();
    assert!(bars.len() == 4 && bars.iter().all(|at| *at == bars[0]), "{text}");
    let marked: Vec<_> = text.lines().filter(|line| line.starts_with('▶')).collect();
    assert!(marked.len() == 1 && marked[0].contains(outer_run["span_id"].as_str().unwrap()), "{text}");
}

#[test]
fn traces_are_listed_newest_first_and_found_by_any_id() {
    let home = home();
    let ids = ["one", "two"].map(|word| home.start(&format!("echo {word}")));
    let tasks = ids.each_ref().map(|id| home.ended(id));
    let text = home.mw(["traces"]).ok();
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.len(), 3, "no export is set up, so none is mentioned: {text}");
    assert!(lines[0].starts_with("TRACE "), "{text}");
    assert!(lines[1].contains("echo two") && lines[2].contains("echo one"), "{text}");
    let listed = home.mw(["traces", "--json", "--limit", "1"]).exits(0).json();
    assert_eq!(listed["traces"].as_array().unwrap().len(), 1);
    let whole = trace(&home, &ids[0]);
    let trace_id = tasks[0]["trace_id"].as_str().unwrap();
    for span in spans(&whole) {
        assert_eq!(trace(&home, span["span_id"].as_str().unwrap())["spans"], whole["spans"]);
    }
    assert_eq!(trace(&home, trace_id)["spans"], whole["spans"]);
}

#[test]
fn unknown_and_foreign_traces_are_not_found() {
    let home = home();
    let id = home.start("true");
    let task = home.ended(&id);
    let unknown = ["0123456789abcdef", "0123456789abcdef0123456789abcdef", "bash-nothere1"];
    for name in unknown {
        let _ = home.mw(["traces", "--json", "--span", name]).refusal(5);
    }
    let stranger = |name: &str| home.command(["traces", "--json", "--span", name]).session("other").run();
    for name in ["span_id", "trace_id", "id"] {
        let _ = stranger(task[name].as_str().unwrap()).refusal(5);
    }
    let listed = home.command(["traces", "--json"]).session("other").run().json();
    assert_eq!(listed["traces"], serde_json::json!([]));
}

#[test]
fn clearing_a_task_removes_its_spans() {
    let home = home();
    let id = home.start("true");
    let task = home.ended(&id);
    home.mw(["clear", &id]).ok();
    let _ = home.mw(["traces", "--json", "--span", task["span_id"].as_str().unwrap()]).refusal(5);
    assert_eq!(home.mw(["traces"]).ok(), "No traces.\n");
}

#[test]
fn a_task_of_an_earlier_build_has_no_trace_and_can_be_restarted() {
    let home = home();
    let id = home.start("true");
    home.ended(&id);
    home.wait_until_empty(SOON);
    let path = home.task_dir(&id).join("spec.json");
    let mut spec: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    assert!(spec.as_object_mut().unwrap().remove("trace").is_some());
    fs::write(&path, spec.to_string()).unwrap();
    home.delete_database();
    let task = home.status(&id);
    assert_eq!((&task["status"], &task["span_id"]), (&"completed".into(), &Value::Null));
    let _ = home.mw(["traces", "--json", "--span", &id]).refusal(5);
    home.mw(["restart", &id]).ok();
    assert_eq!(home.ended(&id)["runs"], 2);
    assert_eq!(home.mw(["traces"]).ok(), "No traces.\n");
}
