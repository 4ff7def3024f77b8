//! The canonical tools.

use std::time::{Duration, Instant};

use mw_testkit::children::{gated, leave_setsid};
use mw_tools::Dialect;
use mw_tools::call::Background;
use serde_json::{Value, json};

use crate::world::{LeavesWhen, SLEEPER, World};

fn world() -> World {
    World::new(Dialect::Canonical)
}

#[test]
fn the_canonical_set_has_nine_tools() {
    let specs = world().tools.specs(Background::On);
    let names: Vec<_> = specs.iter().map(|spec| spec.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "shell",
            "task_output",
            "task_wait",
            "task_stop",
            "task_list",
            "agent",
            "task_resume",
            "task_input",
            "task_clear"
        ]
    );
}

#[test]
fn the_reply_to_a_start_has_id_pid_log_and_promises_a_notification() {
    let world = world();
    let reply =
        world.done("shell", json!({"command": SLEEPER, "run_in_background": true, "description": "Wait"}));
    let id = reply.data["task_id"].as_str().unwrap();
    let task = world.task(id);
    assert_eq!(
        reply.text,
        format!(
            "Started {id} (pid {}). Output: {}\nYou get a notification when it ends; do not poll. It keeps running when this session ends.",
            task.pid.unwrap(),
            task.output_path
        )
    );
    assert_eq!(task.description.as_deref(), Some("Wait"));
    let list = world.done("task_list", json!({}));
    assert!(
        list.text.starts_with(&format!("{id} running ")) && list.text.ends_with(": Wait"),
        "{}",
        list.text
    );
    assert_eq!(list.data["tasks"][0]["command"], SLEEPER);
    assert_eq!(world.done("task_list", json!({"status": "failed"})).text, "No tasks.");
    assert!(world.refused("task_list", json!({"status": "exited"})).text.contains("status must be one of"));
}

#[test]
fn the_reply_to_a_queued_start_has_the_position() {
    let world = world();
    world.fill();
    let reply = world.done("shell", json!({"command": "true", "run_in_background": true}));
    assert!(reply.text.starts_with("Queued bash-") && reply.text.contains("(position 1 in the queue)"));
    assert_eq!(reply.data["status"], "pending");
    assert_eq!(reply.data["pid"], Value::Null);
}

#[test]
fn task_output_reads_new_output_a_tail_an_offset_or_matches() {
    let world = world();
    let task = world.finished("seq 1 9; echo oops >&2");
    let read = |given: Value| {
        let mut given = given;
        given["task_id"] = json!(task.id);
        world.done("task_output", given)
    };
    let first = read(json!({}));
    assert!(first.text.ends_with("\n8\n9\noops\n"), "{}", first.text);
    assert_eq!(first.data["more"], false);
    assert_eq!(read(json!({})).data["output"], "");
    let last = read(json!({"lines": 2}));
    assert_eq!(last.data["output"], "9\noops\n");
    assert!(last.text.contains("[earlier output: "), "{}", last.text);
    assert_eq!(read(json!({"offset": 14})).data["output"], "8\n9\noops\n");
    assert_eq!(read(json!({"stream": "stderr", "offset": 0})).data["output"], "oops\n");
    let found = read(json!({"pattern": "^[89]$"}));
    assert_eq!(found.data["output"], "8: 8\n9: 9\n");
    assert_eq!(found.reported, [], "matches are not the whole output");
    let odd = world.refused("task_output", json!({"task_id": task.id, "pattern": "("}));
    assert_eq!(odd.data["error"]["code"], "invalid");
}

#[test]
fn a_wait_ends_with_any_task_at_its_timeout_or_at_a_matching_line() {
    let world = world();
    let (first, second) = (world.start(&gated("one", 0)), world.start(SLEEPER));
    world.home.open("one");
    let both = json!([first.id, second.id]);
    let any = world.done("task_wait", json!({"task_ids": both, "any": true}));
    assert_eq!((&any.data["met"], &any.data["timed_out"]), (&json!([first.id]), &json!(false)));
    assert_eq!(any.reported, std::slice::from_ref(&first.id));
    let all =
        world.done("task_wait", json!({"task_ids": [first.id, second.id, "bash-zzzzzzzz"], "timeout": 50}));
    assert_eq!((&all.data["timed_out"], &all.data["not_found"]), (&json!(true), &json!(["bash-zzzzzzzz"])));
    assert_eq!(all.reported, [first.id]);
    assert!(world.refused("task_wait", json!({"task_ids": []})).text.starts_with("task_ids is empty"));
    let line = world.start("echo ready now; exec sleep 600");
    let met = world.done("task_wait", json!({"task_ids": line.id, "pattern": "^ready"}));
    assert_eq!((&met.data["met"], met.reported.len()), (&json!([line.id]), 0), "it is still running");
}

#[test]
fn a_stop_kills_the_process_tree_and_reports_the_killed_processes() {
    let world = world();
    let task = world.start(&format!("{} wait; exec sleep 600", leave_setsid("child")));
    let child = world.home.pid_in("child");
    let reply = world.done("task_stop", json!({"task_ids": [task.id, task.id]}));
    assert!(reply.text.starts_with(&format!("{} cancelled, ", task.id)), "{}", reply.text);
    assert!(reply.data["tasks"][0]["killed"].as_array().unwrap().contains(&json!(child)), "{}", reply.data);
    assert_eq!(reply.data["tasks"].as_array().unwrap().len(), 1);
    world.home.until_dead(child);
    let again = world.done("task_stop", json!({"task_ids": [task.id]}));
    assert!(again.text.ends_with("had already ended"), "{}", again.text);
    assert!(
        world
            .refused("task_stop", json!({"task_ids": [task.id], "signal": "NONSENSE"}))
            .text
            .contains("signal")
    );
    // An unknown id among several stops no task.
    let other = world.start(SLEEPER);
    let refused = world.refused("task_stop", json!({"task_ids": [other.id, "bash-zzzzzzzz"]}));
    assert_eq!(refused.text, format!("no task \"bash-zzzzzzzz\". Live: {}.", other.id));
    assert_eq!(refused.data["error"]["code"], "not_found");
}

#[test]
fn a_terminal_accepts_input() {
    let world = world();
    let given = json!({"command": "read x; echo got $x", "run_in_background": true, "pty": true});
    let id = world.done("shell", given).data["task_id"].clone();
    let typed = world.done("task_input", json!({"task_id": id, "text": "hello"}));
    assert_eq!((typed.text.as_str(), &typed.data), ("6 bytes sent.", &json!({"bytes": 6})));
    let read = world.done("task_output", json!({"task_id": id, "block": true, "lines": 1}));
    assert_eq!(read.data["output"], "got hello\n");
    assert!(world.refused("task_input", json!({"task_id": id, "text": "x"})).text.contains("not running"));
}

#[test]
fn clearing_keeps_running_tasks() {
    let world = world();
    let (over, live) = (world.finished("true"), world.start(SLEEPER));
    let kept = world.done("task_clear", json!({"task_ids": [live.id]}));
    assert_eq!(kept.text, format!("0 removed.\n{} kept: it is running", live.id));
    let reply = world.done("task_clear", json!({}));
    assert_eq!(reply.data, json!({"removed": [over.id], "kept": []}));
}

#[test]
fn an_aborted_wait_ends_no_task() {
    let world = world();
    let task = world.start(SLEEPER);
    for (tool, given) in [
        ("task_wait", json!({"task_ids": [task.id]})),
        ("task_output", json!({"task_id": task.id, "block": true})),
    ] {
        let begun = Instant::now();
        let caller = LeavesWhen::new(|| true);
        let reply = world.call_as(tool, &given, &caller);
        assert!(begun.elapsed() < Duration::from_secs(50));
        assert_eq!((&reply.data["timed_out"], caller.looks.get()), (&json!(true), 1));
        assert_eq!(reply.reported, []);
    }
    assert!(!world.task(task.id.as_str()).status.is_terminal());
}
