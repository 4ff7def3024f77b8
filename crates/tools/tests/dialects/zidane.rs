//! zidane: one flag on `shell`, `shell_kill`, and formats L1 and L2.

use std::fs;

use meanwhile::Scope;
use mw_model::Status;
use mw_tools::Dialect;
use mw_tools::call::Background;
use serde_json::json;

use crate::world::{SLEEPER, World};

fn world() -> World {
    World::new(Dialect::Zidane)
}

#[test]
fn zidane_adds_one_flag_and_one_tool() {
    let specs = world().tools.specs(Background::On);
    let names: Vec<_> = specs.iter().map(|spec| spec.name.as_str()).collect();
    assert_eq!(names, ["shell", "shell_kill"]);
    let shell = &specs[0].input_schema;
    assert_eq!(shell["required"], json!(["command"]));
    assert_eq!(shell["properties"]["run_in_background"]["type"], "boolean");
    assert_eq!(shell["properties"]["cwd"]["type"], "string");
    assert_eq!(shell["properties"]["env"]["additionalProperties"]["type"], "string");
    assert_eq!(specs[1].input_schema["required"], json!(["task_id"]));
    // The description tells the model not to poll.
    for part in
        ["run_in_background", "<task-notification>", "read_file", "not sleep", "wait for the notification"]
    {
        assert!(specs[0].description.contains(part), "{part}");
    }
}

#[test]
fn l1_the_reply_to_a_start_has_id_pid_and_log() {
    let world = world();
    let reply = world.done("shell", json!({"command": "echo hi; exec sleep 600", "run_in_background": true}));
    let task = world.task("bash_1");
    let log = world.home.state().join("sessions/conversation/tasks/bash_1.20260523-024147-123.log");
    let (first, rest) = reply.text.split_once("\n\n").unwrap();
    assert_eq!(first, format!("Started bash_1 (pid {}). Output: {}", task.pid.unwrap(), log.display()));
    for part in ["background", "`read_file`", "<task-notification>"] {
        assert!(rest.contains(part), "{rest}");
    }
    assert_eq!(reply.data, json!({"task_id": "bash_1", "output_path": log, "pid": task.pid}));
    assert_eq!(reply.reported, []);
    world.home.until_logged(task.id.as_str(), "hi");
    assert_eq!(fs::read_to_string(&log).unwrap(), "hi\n");
    // Numbers continue.
    let second = world.done("shell", json!({"command": "true", "run_in_background": true}));
    assert_eq!(second.data["task_id"], "bash_2");
}

/// A later context has its own names; names of removed tasks are removed.
#[test]
fn log_names_contain_the_context_and_are_removed_with_their_tasks() {
    let mut world = world();
    let start = |world: &World| {
        let reply = world.done("shell", json!({"command": "echo hi", "run_in_background": true}));
        std::path::PathBuf::from(reply.data["output_path"].as_str().unwrap())
    };
    let first = start(&world);
    world.call_settings.context_stamp = "20260523-024147-124".to_owned();
    let second = start(&world);
    assert_eq!(first.file_name().unwrap(), "bash_1.20260523-024147-123.log");
    assert_eq!(second.file_name().unwrap(), "bash_1.20260523-024147-124.log");
    assert_eq!(first.parent(), second.parent());
    let mut tasks = world.tasks();
    tasks.sort_by_key(|task| task.number);
    let ids: Vec<_> = tasks.iter().map(|task| world.over(&task.id).id).collect();
    assert_eq!(fs::read_to_string(&second).unwrap(), "hi\n");
    world.runtime.retention().clear(&ids[..1], None).unwrap();
    assert!(fs::symlink_metadata(&first).is_err(), "a dangling link is left");
    assert!(second.exists());
}

#[test]
fn l2_the_reply_to_a_kill_has_the_code_and_the_log() {
    let world = world();
    let start = world.done("shell", json!({"command": SLEEPER, "run_in_background": true}));
    let log = start.data["output_path"].as_str().unwrap();
    let reply = world.done("shell_kill", json!({"task_id": "bash_1"}));
    assert_eq!(reply.text, format!("Killed bash_1 (exited 143). Output: {log}"));
    let task = world.task("bash_1");
    let (code, took) = (json!(143), json!(task.duration_ms.unwrap()));
    assert_eq!(
        reply.data,
        json!({"task_id": "bash_1", "status": "killed", "exit_code": code, "signal": "SIGTERM", "output_path": log, "duration_ms": took})
    );
    assert_eq!(reply.reported, [task.id]);
    // A second kill changes nothing.
    let again = world.done("shell_kill", json!({"task_id": "bash_1"}));
    assert_eq!(again.text, format!("bash_1 was not running (exited 143). Output: {log}"));
    assert_eq!(again.data["status"], "killed");
}

#[test]
fn a_task_that_ignores_sigterm_is_killed() {
    let mut world = world();
    world.call_settings.limits.kill_grace_ms = 200;
    let command = "trap '' TERM; echo ready; while :; do sleep 0.05; done";
    world.done("shell", json!({"command": command, "run_in_background": true}));
    world.home.until_logged(world.task("bash_1").id.as_str(), "ready");
    let reply = world.done("shell_kill", json!({"task_id": "bash_1"}));
    assert!(reply.text.starts_with("Killed bash_1 (exited 137). Output: "), "{}", reply.text);
}

#[test]
fn foreground_calls_return_output_and_exit_code() {
    let world = world();
    let reply = world.done("shell", json!({"command": "echo out; echo err >&2"}));
    assert_eq!(reply.data["exit_code"], 0);
    let mut fields: Vec<_> = reply.data.as_object().unwrap().keys().collect();
    fields.sort();
    assert_eq!(fields, ["exit_code", "output"]);
    let mut lines: Vec<_> = reply.text.lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, ["err", "out"]);
    let failed = world.done("shell", json!({"command": "echo bad; exit 3", "run_in_background": false}));
    assert_eq!(failed.data, json!({"output": "bad\n", "exit_code": 3}));
    assert_eq!(failed.text, "bad\n\n[exit code 3]");
    let crashed = world.done("shell", json!({"command": "kill -SEGV $$"}));
    assert_eq!(crashed.data["exit_code"], 139);
}

#[test]
fn unknown_foreign_and_cleared_ids_are_refused_with_the_running_ids() {
    let world = world();
    let gone = world.finished("true");
    world.runtime.retention().clear(&[gone.id], None).unwrap();
    let foreign = world.start_with(SLEEPER, |request| request.session = "another".to_owned());
    for id in ["bash_99", "bash_1", foreign.id.as_str(), "", "../x", "💥"] {
        let reply = world.refused("shell_kill", json!({"task_id": id}));
        assert_eq!(reply.text, format!("No task {id:?}. No tasks are running."));
    }
    world.done("shell", json!({"command": SLEEPER, "run_in_background": true}));
    let reply = world.refused("shell_kill", json!({"task_id": "bash_99"}));
    assert_eq!(reply.text, "No task \"bash_99\". Running: bash_1.");
    assert!(!world.runtime.tasks().task(foreign.id.as_str(), &Scope::All).unwrap().status.is_terminal());
}

#[test]
fn a_queued_task_is_not_listed_as_running_and_can_be_killed() {
    let world = world();
    for _ in 0..8 {
        world.done("shell", json!({"command": SLEEPER, "run_in_background": true}));
    }
    let reply = world.done("shell", json!({"command": SLEEPER, "run_in_background": true}));
    assert_eq!(reply.data["task_id"], "bash_9");
    assert!(reply.text.starts_with("Queued bash_9: no slot is free"), "{}", reply.text);
    assert!(reply.text.contains("The task is not running yet."), "{}", reply.text);
    assert_eq!(reply.data["pid"], json!(null));
    let refusal = world.refused("shell_kill", json!({"task_id": "bash_99"}));
    assert!(refusal.text.contains("bash_8") && !refusal.text.contains("bash_9,"), "{}", refusal.text);
    assert!(!refusal.text.contains("bash_9."), "{}", refusal.text);
    let killed = world.done("shell_kill", json!({"task_id": "bash_9"}));
    assert!(killed.text.starts_with("Killed bash_9 before it began."), "{}", killed.text);
    assert_eq!(killed.data["status"], "killed");
}

/// a task of another host of the session has no number here; it is listed and killed by its id.
#[test]
fn a_task_of_another_host_is_found_by_its_id() {
    let mut world = world();
    let start = |world: &World| {
        world.done("shell", json!({"command": SLEEPER, "run_in_background": true}));
    };
    start(&world);
    let first = world.task("bash_1").id;
    let running = |world: &World| world.refused("shell_kill", json!({"task_id": "bash_99"})).text;
    assert_eq!(running(&world), "No task \"bash_99\". Running: bash_1.");
    world.call_settings.context_stamp = "20260523-024147-124".to_owned();
    assert_eq!(running(&world), format!("No task \"bash_99\". Running: {first}."));
    world.refused("shell_kill", json!({"task_id": "bash_1"}));
    start(&world);
    let both = running(&world);
    assert!(both.contains("bash_1") && both.contains(first.as_str()), "{both}");
    assert_eq!(world.tasks().len(), 2);
    let killed = world.done("shell_kill", json!({"task_id": "bash_1"}));
    assert!(killed.text.contains("bash_1.20260523-024147-124.log"), "{}", killed.text);
    assert!(!world.task(first.as_str()).status.is_terminal(), "the task of the earlier host was killed");
    let killed = world.done("shell_kill", json!({"task_id": first}));
    assert!(killed.text.starts_with(&format!("Killed {first} (exited 143)")), "{}", killed.text);
    assert_eq!(world.task(first.as_str()).status, Status::Cancelled);
}

/// Numbers count background tasks of a context; a foreground command gets one only if it moves to the background.
#[test]
fn foreground_commands_take_no_number() {
    let mut world = world();
    let start = |world: &World| {
        let reply = world.done("shell", json!({"command": "true", "run_in_background": true}));
        reply.data["task_id"].as_str().unwrap().to_owned()
    };
    let wait = |world: &World| world.done("shell", json!({"command": "true"}));
    wait(&world);
    let mut ids = vec![start(&world)];
    wait(&world);
    wait(&world);
    ids.push(start(&world));
    assert_eq!(ids, ["bash_1", "bash_2"]);
    world.call_settings.longest_call = std::time::Duration::from_millis(50);
    let moved = world.done("shell", json!({"command": SLEEPER}));
    assert_eq!(moved.data["task_id"], "bash_3", "{}", moved.text);
    assert!(moved.text.contains("bash_3.20260523-024147-123.log"), "{}", moved.text);
    assert_eq!(start(&world), "bash_4");
    let killed = world.done("shell_kill", json!({"task_id": "bash_3"}));
    assert!(killed.text.starts_with("Killed bash_3 (exited 143)"), "{}", killed.text);
}
