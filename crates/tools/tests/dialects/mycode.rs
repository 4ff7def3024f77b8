//! mycode: `Bash` and `TaskOutput`.

use std::time::{Duration, Instant};

use meanwhile::Scope;
use mw_testkit::children::gated;
use mw_tools::Dialect;
use mw_tools::call::Background;
use serde_json::{Value, json};

use crate::world::{SLEEPER, World};

fn world() -> World {
    World::new(Dialect::Mycode)
}

#[test]
fn parameters_defaults_and_ranges_match_the_source() {
    let specs = world().tools.specs(Background::On);
    let names: Vec<_> = specs.iter().map(|spec| spec.name.as_str()).collect();
    assert_eq!(names, ["Bash", "Task", "TaskOutput", "KillShell"]);
    assert_eq!(specs[0].input_schema["properties"]["run_in_background"]["type"], "boolean");
    assert_eq!(specs[1].input_schema["required"], json!(["description", "prompt"]));
    let properties = &specs[2].input_schema["properties"];
    assert_eq!(specs[2].input_schema["required"], json!(["task_id"]));
    assert_eq!(properties["task_id"], json!({"type": "string"}));
    assert_eq!(properties["block"], json!({"type": "boolean", "default": true}));
    let timeout = json!({"type": "number", "default": 30000, "minimum": 0, "maximum": 600_000});
    assert_eq!(properties["timeout"], timeout);
    for part in ["task_id", "block", "timeout", "30000", "600000", "block=false", "/tasks"] {
        assert!(specs[2].description.contains(part), "{part}");
    }
}

#[test]
fn a_start_returns_id_and_output_file() {
    let world = world();
    let given = json!({"command": "echo ${BASH_VERSION:+bash}; exec sleep 600", "run_in_background": true, "description": "Wait"});
    let reply = world.done("Bash", given);
    let id = reply.data["task_id"].as_str().unwrap();
    assert!(id.strip_prefix("bash-").is_some_and(|rest| rest.len() == 8), "{id}");
    let task = world.task(id);
    let file = reply.data["output_file"].as_str().unwrap();
    assert_eq!(
        reply.data,
        json!({"task_id": id, "output_file": file, "status": "running", "ends_with_session": false})
    );
    assert!(file.ends_with(&format!("/tasks/{id}.log")), "{file}");
    assert_eq!(std::fs::canonicalize(file).unwrap(), std::fs::canonicalize(&task.output_path).unwrap());
    assert_eq!(task.description.as_deref(), Some("Wait"));
    world.home.until_logged(id, "bash");
}

#[test]
fn a_foreground_command_returns_output_and_exit_code() {
    let world = world();
    let reply = world.done("Bash", json!({"command": "echo hi"}));
    assert_eq!((reply.text.as_str(), &reply.data), ("hi\n", &json!({"output": "hi\n", "exit_code": 0})));
    let reply = world.done("Bash", json!({"command": "echo no; exit 2"}));
    assert_eq!(reply.text, "no\n\nExit code: 2");
    // The time limit of the call ends the command.
    let reply = world.done("Bash", json!({"command": SLEEPER, "timeout": 100}));
    assert_eq!(reply.data["exit_code"], -1);
}

/// Beside the code −1, text and data have the reason.
#[test]
fn a_missing_exit_code_has_a_reason() {
    let world = world();
    for (command, timeout, why) in [(SLEEPER, 100, "time"), ("kill -9 $$", 60_000, "SIGKILL")] {
        let given = json!({"command": command, "timeout": timeout});
        let reply = world.done("Bash", given.clone());
        let error = reply.data["error"].as_str().unwrap_or_default();
        assert!(error.contains(why), "{}", reply.data);
        assert_eq!(reply.text, format!("\nExit code: -1\nError: {error}"));
        let mut given = given;
        given["run_in_background"] = true.into();
        let id = world.done("Bash", given).data["task_id"].clone();
        let reply = world.done("TaskOutput", json!({"task_id": id}));
        assert_eq!((&reply.data["error"], &reply.data["exit_code"]), (&json!(error), &json!(-1)));
        assert!(reply.text.contains("│ Error:  ") && reply.text.contains(why), "{}", reply.text);
    }
    let reply = world.done("Bash", json!({"command": "exit 2"}));
    assert_eq!(reply.data.get("error"), None, "the exit code explains it");
}

#[test]
fn clearing_a_task_removes_the_link_to_its_log() {
    let world = world();
    let reply = world.done("Bash", json!({"command": "true", "run_in_background": true}));
    let file = std::path::PathBuf::from(reply.data["output_file"].as_str().unwrap());
    let task = world.over(&world.task(reply.data["task_id"].as_str().unwrap()).id);
    assert!(file.is_symlink());
    world.runtime.retention().clear(&[task.id], None).unwrap();
    assert!(!file.is_symlink(), "{}", file.display());
}

#[test]
fn task_output_has_all_fields_of_the_task_record() {
    let world = world();
    let task = world.start_with("echo hi; exit 3", |request| request.description = Some("Say hi".to_owned()));
    let task = world.over(&task.id);
    let record = world.done("TaskOutput", json!({"task_id": task.id})).data["task"].clone();
    let wanted = json!({
        "id": task.id, "type": "bash", "description": "Say hi", "status": "error",
        "started_at": task.started_at, "completed_at": task.ended_at, "exit_code": 3, "error": null,
        "output_file": world.home.state().join(format!("tasks/{}.log", task.id)),
        "metadata": {"command": "echo hi; exit 3", "cwd": task.cwd, "pid": task.pid},
    });
    assert_eq!(record, wanted);
    let running = world.start(SLEEPER);
    let record =
        world.done("TaskOutput", json!({"task_id": running.id, "block": false})).data["task"].clone();
    assert_eq!((&record["completed_at"], &record["exit_code"]), (&Value::Null, &Value::Null), "{record}");
}

#[test]
fn task_output_without_block_does_not_wait() {
    let world = world();
    let task = world.start("echo part; exec sleep 600");
    world.home.until_logged(task.id.as_str(), "part");
    let begun = Instant::now();
    let reply = world.done("TaskOutput", json!({"task_id": task.id, "block": false}));
    assert!(begun.elapsed() < Duration::from_secs(50));
    let data = &reply.data;
    assert_eq!((&data["status"], &data["output"]), (&json!("running"), &json!("part\n")));
    assert_eq!((&data["exit_code"], &data["timed_out"]), (&Value::Null, &json!(false)));
    assert!(data["elapsed_ms"].is_u64());
}

#[test]
fn task_output_blocks_by_default_until_the_task_ends() {
    let world = world();
    let task = world.start(&gated("go", 0));
    world.home.open("go");
    let reply = world.done("TaskOutput", json!({"task_id": task.id}));
    assert_eq!((&reply.data["status"], &reply.data["exit_code"]), (&json!("completed"), &json!(0)));
    // The duration stops at the end of the task.
    let first = reply.data["elapsed_ms"].clone();
    assert_eq!(world.done("TaskOutput", json!({"task_id": task.id})).data["elapsed_ms"], first);
}

#[test]
fn a_wait_that_times_out_says_so_and_stops_no_task() {
    let world = world();
    let task = world.start("echo part; exec sleep 600");
    world.home.until_logged(task.id.as_str(), "part");
    let reply = world.done("TaskOutput", json!({"task_id": task.id, "timeout": 50}));
    assert_eq!((&reply.data["timed_out"], &reply.data["status"]), (&json!(true), &json!("running")));
    assert_eq!(reply.data["output"], "part\n");
    assert!(reply.text.contains("Wait timed out"), "{}", reply.text);
    assert!(!world.task(task.id.as_str()).status.is_terminal());
    for timeout in [json!(600_001), json!(-1)] {
        let reply = world.refused("TaskOutput", json!({"task_id": task.id, "timeout": timeout}));
        assert!(reply.text.contains("timeout"), "{}", reply.text);
        assert_eq!(reply.data["task_id"], json!(task.id), "{}", reply.data);
    }
}

#[test]
fn task_output_waits_for_a_queued_task() {
    let world = world();
    let running = world.fill();
    let reply = world.done("Bash", json!({"command": "echo at last", "run_in_background": true}));
    assert_eq!(reply.data["status"], "pending");
    assert!(reply.text.starts_with("┌─ Background Task Queued ─"), "{}", reply.text);
    assert!(reply.text.contains("│ Status: Pending"), "{}", reply.text);
    // The box names no output file that does not exist yet; the data has its future path.
    assert!(!reply.text.contains("Output:"), "{}", reply.text);
    let id = reply.data["task_id"].clone();
    let file = std::path::PathBuf::from(reply.data["output_file"].as_str().unwrap());
    let reply = world.done("TaskOutput", json!({"task_id": id, "timeout": 50}));
    assert_eq!((&reply.data["status"], &reply.data["timed_out"]), (&json!("pending"), &json!(true)));
    let kill = meanwhile::engine::KillRequest { by: "a test".to_owned(), signal: 9, grace_ms: None };
    world.runtime.live().kill_all(&[running[0].id.clone()], &kill).all_done().unwrap();
    let reply = world.done("TaskOutput", json!({"task_id": id}));
    assert_eq!((&reply.data["status"], &reply.data["output"]), (&json!("completed"), &json!("at last\n")));
    assert_eq!(reply.data["task"]["output_file"], json!(file));
    assert!(file.exists());
    // A task cancelled in the queue has no output file.
    let mut slots = running[1..].to_vec();
    slots.push(world.start(SLEEPER));
    let started = world.done("Bash", json!({"command": "echo again", "run_in_background": true}));
    let id = started.data["task_id"].clone();
    world.done("KillShell", json!({"shell_id": id}));
    assert_eq!(world.done("TaskOutput", json!({"task_id": id})).data["task"]["output_file"], Value::Null);
    let file = std::path::PathBuf::from(started.data["output_file"].as_str().unwrap());
    assert!(!file.is_symlink(), "a dangling link");
    // A restart creates it again.
    world.runtime.live().kill_all(&[slots[0].id.clone()], &kill).all_done().unwrap();
    let task = world.runtime.starts().restart(id.as_str().unwrap(), &Scope::All).unwrap();
    world.over(&task.id);
    assert_eq!(std::fs::read_to_string(file).unwrap(), "again\n");
}

/// Only a running task can be cancelled.
#[test]
fn a_task_can_be_killed_once() {
    let world = world();
    let task = world.start(SLEEPER);
    let reply = world.done("KillShell", json!({"shell_id": task.id}));
    assert_eq!(reply.data, json!({"success": true, "task_id": task.id, "status": "cancelled"}));
    assert_eq!(reply.reported, std::slice::from_ref(&task.id));
    let again = world.call("KillShell", json!({"shell_id": task.id}));
    assert!(again.failed);
    assert_eq!((&again.data["success"], &again.data["status"]), (&json!(false), &json!("cancelled")));
    assert_eq!(again.text, format!("Task {} is not running (status: cancelled)", task.id));
    assert_eq!(world.refused("KillShell", json!({"shell_id": "bash-zzzzzzzz"})).text, "Task not found");
}

#[test]
fn unknown_ids_are_reported_as_in_the_source() {
    let world = world();
    let foreign = world.start_with(SLEEPER, |request| request.session = "another".to_owned());
    let cleared = world.finished("true");
    world.runtime.retention().clear(std::slice::from_ref(&cleared.id), None).unwrap();
    for id in ["bash-zzzzzzzz", foreign.id.as_str(), cleared.id.as_str(), "agent-abc123", ""] {
        let reply = world.refused("TaskOutput", json!({"task_id": id}));
        let wanted = json!({"success": false, "task_id": id, "status": "error", "error": "Task not found"});
        assert_eq!(reply.data, wanted);
        assert_eq!(reply.text, "Task not found");
    }
}
