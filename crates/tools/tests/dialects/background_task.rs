//! The background-task specification, scenario by scenario, as far as tasks are shell tasks.

use std::time::{Duration, Instant};

use mw_testkit::children::gated;
use mw_tools::Dialect;
use mw_tools::call::Background;
use serde_json::{Value, json};

use crate::world::{SLEEPER, World};

fn world() -> World {
    World::new(Dialect::BackgroundTask)
}

fn statuses(reply: &Value) -> Vec<&str> {
    reply["tasks"].as_array().unwrap().iter().map(|task| task["status"].as_str().unwrap_or("-")).collect()
}

#[test]
fn tools_and_parameters_match_the_specification() {
    let specs = world().tools.specs(Background::On);
    let names: Vec<_> = specs.iter().map(|spec| spec.name.as_str()).collect();
    let own = ["background_output", "background_block", "background_cancel", "background_clear"];
    assert_eq!(names[..2], ["background_task", "background_resume"]);
    assert_eq!(names[2..], own);
    assert_eq!(specs[0].input_schema["required"], json!(["description", "prompt"]));
    assert!(specs[0].input_schema["properties"]["agent"].is_object());
    assert_eq!(specs[1].input_schema["required"], json!(["task_id", "message"]));
    let timeout = &specs[3].input_schema["properties"]["timeout"];
    assert_eq!(timeout, &json!({"type": "number", "default": 30000, "minimum": 0, "maximum": 600_000}));
    assert_eq!(specs[3].input_schema["properties"]["task_ids"]["type"], "array");
}

#[test]
fn retrieve_completed_task_results() {
    let world = world();
    let task = world.finished("echo the result");
    let reply = world.done("background_output", json!({"task_id": task.id}));
    assert_eq!(reply.data["result"], "the result\n");
    assert_eq!(reply.data["status"], "completed");
    assert_eq!(reply.data["resumeCount"], 0);
    assert_eq!(reply.data["batchId"], Value::Null);
    let first = reply.data["retrievedAt"].as_str().unwrap().to_owned();
    // It persists until it is cleared, and the time of the first retrieval stays.
    let again = world.done("background_output", json!({"task_id": task.id}));
    assert_eq!(again.data["retrievedAt"], first);
    assert_eq!(again.data["result"], "the result\n");
}

#[test]
fn check_running_task_status() {
    let world = world();
    let task = world.start("echo so far; exec sleep 600");
    world.home.until_logged(task.id.as_str(), "so far");
    let begun = Instant::now();
    let reply = world.done("background_output", json!({"task_id": task.id}));
    assert!(begun.elapsed() < Duration::from_secs(50), "it never blocks");
    assert_eq!(reply.data["status"], "running");
    assert_eq!(reply.data["progress"]["output"], "so far\n");
    assert!(reply.data["progress"]["lastUpdate"].is_string(), "{}", reply.data);
    assert_eq!(reply.data["result"], Value::Null);
    assert_eq!(reply.data["retrievedAt"], Value::Null);
}

#[test]
fn block_until_tasks_complete() {
    let world = world();
    let over = world.finished("false");
    let cancelled = world.ended(crate::world::Ending::KilledByUser);
    let running = world.start(&gated("go", 0));
    world.home.open("go");
    let ids = json!([over.id, running.id, cancelled.id, "bash-zzzzzzzz", over.id]);
    let reply = world.done("background_block", json!({"task_ids": ids, "timeout": 20_000}));
    assert_eq!(statuses(&reply.data), ["error", "completed", "cancelled", "-"]);
    assert_eq!(reply.data["tasks"][3]["error"], "not found");
    assert_eq!(reply.data["timed_out"], false);
    assert!(reply.text.contains("bash-zzzzzzzz: not found"), "{}", reply.text);
    assert_eq!(reply.reported, [over.id, running.id, cancelled.id]);
}

#[test]
fn all_tasks_already_completed() {
    let world = world();
    let ids = [world.finished("true").id, world.finished("false").id];
    let begun = Instant::now();
    let reply = world.done("background_block", json!({"task_ids": ids}));
    assert!(begun.elapsed() < Duration::from_secs(50), "no blocking");
    assert_eq!(statuses(&reply.data), ["completed", "error"]);
    assert_eq!(reply.reported, ids);
}

#[test]
fn block_timeout_reached() {
    let world = world();
    let (over, running) = (world.finished("true"), world.start(SLEEPER));
    let reply = world.done("background_block", json!({"task_ids": [over.id, running.id], "timeout": 50}));
    assert_eq!(statuses(&reply.data), ["completed", "running"]);
    assert_eq!(reply.data["timed_out"], true);
    assert!(reply.text.ends_with("running tasks continue."), "{}", reply.text);
    assert_eq!(reply.reported, [over.id]);
    assert!(!world.task(running.id.as_str()).status.is_terminal());
    for timeout in [json!(600_001), json!(-1), json!("soon")] {
        let reply = world.refused("background_block", json!({"task_ids": [running.id], "timeout": timeout}));
        assert!(reply.text.starts_with("timeout must be"), "{}", reply.text);
    }
    assert!(world.refused("background_block", json!({"task_ids": []})).text.starts_with("task_ids"));
}

#[test]
fn cancel_running_tasks() {
    let world = world();
    let task = world.start(SLEEPER);
    let reply = world.done("background_cancel", json!({"task_id": task.id}));
    assert_eq!(statuses(&reply.data), ["cancelled"]);
    assert_eq!(reply.reported, [task.id]);
    assert!(world.refused("background_cancel", json!({})).text.starts_with("task_id or batch_id"));
}

#[test]
fn group_related_tasks() {
    let world = world();
    let start = |script: &str| world.start_with(script, |request| request.batch = Some("b1".to_owned()));
    let (first, second, over) = (start(SLEEPER), start(SLEEPER), start("true"));
    let alone = world.start(SLEEPER);
    world.over(&over.id);
    let shown = world.done("background_output", json!({"batch_id": "b1"}));
    assert_eq!(shown.data["tasks"].as_array().unwrap().len(), 3);
    assert_eq!(shown.data["tasks"][0]["batchId"], "b1");
    assert_eq!(shown.reported, [], "a list is no retrieval");
    let waited = world.done("background_block", json!({"batch_id": "b1", "timeout": 50}));
    assert_eq!(waited.data["tasks"].as_array().unwrap().len(), 3);
    assert_eq!(waited.reported, std::slice::from_ref(&over.id));
    let kept = world.done("background_clear", json!({"batch_id": "b1"}));
    assert_eq!(kept.data["cleared"], json!([over.id]));
    assert_eq!(kept.data["kept"].as_array().unwrap().len(), 2);
    assert!(kept.text.contains("kept: it is running"), "{}", kept.text);
    let cancelled = world.done("background_cancel", json!({"batch_id": "b1"}));
    assert_eq!(statuses(&cancelled.data), ["cancelled", "cancelled"]);
    let mut told = cancelled.reported;
    told.sort();
    let mut both = vec![first.id, second.id];
    both.sort();
    assert_eq!(told, both);
    let again = world.done("background_cancel", json!({"batch_id": "b1"}));
    assert_eq!(again.text, "No running tasks in that batch.");
    assert!(!world.task(alone.id.as_str()).status.is_terminal());
}

#[test]
fn clearing_a_running_task_is_refused_unless_cancel_is_set() {
    let world = world();
    let (over, running) = (world.finished("true"), world.start(SLEEPER));
    let reply = world.done("background_clear", json!({}));
    assert_eq!(reply.data, json!({"cleared": [over.id], "kept": []}));
    let kept = world.done("background_clear", json!({"task_ids": [running.id]}));
    assert_eq!(kept.data["cleared"], json!([]));
    assert_eq!(kept.data["kept"][0]["id"], json!(running.id));
    let gone = world.done("background_clear", json!({"task_ids": [running.id, running.id], "cancel": true}));
    assert_eq!(gone.data["cleared"], json!([running.id]));
    assert_eq!(world.tasks().len(), 0);
    for id in [over.id.as_str(), "bash-zzzzzzzz"] {
        let reply = world.refused("background_output", json!({"task_id": id}));
        assert_eq!(reply.text, format!("Task {id:?} not found. Running: none."));
    }
    let other = world.start(SLEEPER);
    let reply = world.refused("background_cancel", json!({"task_id": over.id}));
    assert!(reply.text.ends_with(&format!("Running: {}.", other.id)), "{}", reply.text);
}
