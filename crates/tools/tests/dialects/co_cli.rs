//! co-cli: four tools whose replies are objects with a `display`.

use std::collections::HashSet;
use std::process::Command;

use mw_testkit::children::gated;
use mw_testkit::{SOON, processes, wait_until};
use mw_tools::Dialect;
use mw_tools::call::Background;
use mw_tools::screens;
use serde_json::{Value, json};

use crate::world::{SLEEPER, World, briefly};

fn world() -> World {
    World::new(Dialect::CoCli)
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap()
}

#[test]
fn test_start_background_task_tool() {
    let world = world();
    let given = json!({"command": "echo hello", "description": "Test task"});
    let reply = world.done("start_background_task", given);
    let id = text(&reply.data, "task_id");
    assert!(id.starts_with("task_20") && id.contains("_echo_"), "{id}");
    assert_eq!(reply.data["status"], "running");
    let display = format!("Started background task {id}: Test task\nCheck status: /status {id}");
    assert_eq!(reply.data["display"], display);
    assert_eq!(reply.text, display);
    assert_eq!(world.task(id).description.as_deref(), Some("Test task"));
}

#[test]
fn test_check_task_status_tool() {
    let world = world();
    let given = json!({"command": "seq 30", "description": "Count"});
    let id = text(&world.done("start_background_task", given).data, "task_id").to_owned();
    let task = world.over(&world.task(&id).id);
    let reply = world.done("check_task_status", json!({"task_id": id, "include_output": true}));
    let data = &reply.data;
    assert_eq!(
        (&data["task_id"], &data["status"], &data["exit_code"]),
        (&json!(id), &json!("completed"), &json!(0))
    );
    let last: Vec<_> = (11..=30).map(|n| n.to_string()).collect();
    assert_eq!(data["output"], last.join("\n"));
    assert_eq!(data["duration"], data["duration_seconds"]);
    assert!(data["duration"].is_f64());
    assert_eq!(
        reply.text,
        format!(
            "Task: {id}\nStatus: completed\nDuration: {}\nExit code: 0\n\nRecent output:\n{}\n\nFull output: {}",
            briefly(task.duration_ms.unwrap()),
            last.join("\n"),
            world.home.state().join("tasks").join(&id).join("output.log").display()
        )
    );
    assert_eq!(reply.reported, [task.id]);
    let bare = world.done("check_task_status", json!({"task_id": id, "include_output": false}));
    assert_eq!(bare.data["output"], "");
    assert!(!bare.text.contains("Recent output"), "{}", bare.text);
    assert_eq!(bare.reported, [], "its output was not read");
}

#[test]
fn test_cancel_background_task_tool() {
    let world = world();
    let given = json!({"command": "sleep 600", "description": "Long"});
    let id = text(&world.done("start_background_task", given).data, "task_id").to_owned();
    let reply = world.done("cancel_background_task", json!({"task_id": id}));
    let display = format!("Task {id} cancelled.");
    assert_eq!(reply.data, json!({"task_id": id, "status": "cancelled", "display": display}));
    assert_eq!(reply.reported, [world.task(&id).id]);
    let again = world.call("cancel_background_task", json!({"task_id": id}));
    assert!(again.failed);
    assert_eq!(again.text, format!("Task {id} is not running (status: cancelled)."));
    let unknown = world.refused("check_task_status", json!({"task_id": "task_20260209_143022_pytest"}));
    assert_eq!(unknown.text, "Task task_20260209_143022_pytest not found.");
    assert_eq!(unknown.data["display"], unknown.text);
}

#[test]
fn test_list_background_tasks_tool() {
    let world = world();
    assert_eq!(world.done("list_background_tasks", json!({})).text, "No background tasks.");
    world.finished("true");
    world.finished("false");
    let sleeper = world.start(SLEEPER);
    let reply = world.done("list_background_tasks", json!({"status_filter": null}));
    assert_eq!(reply.data["count"], 3);
    let entries = reply.data["tasks"].as_array().unwrap();
    assert_eq!(entries.len(), 3);
    assert_eq!(text(&entries[0], "task_id"), Dialect::CoCli.handle(&sleeper), "newest first");
    assert!(entries[0]["duration"].is_f64());
    assert_eq!(entries[0]["duration"], entries[0]["duration_seconds"]);
    assert_eq!(reply.text, text(&reply.data, "display"));
    for (filter, count) in [("completed", 1), ("failed", 1), ("running", 1), ("pending", 0), ("cancelled", 0)]
    {
        let reply = world.done("list_background_tasks", json!({"status_filter": filter}));
        assert_eq!(reply.data["count"], count, "{filter}");
    }
    let wrong = world.refused("list_background_tasks", json!({"status_filter": "lost"}));
    assert!(wrong.text.contains("status_filter"), "{}", wrong.text);
}

/// Format L6.
#[test]
fn the_list_has_the_table_format_of_the_source() {
    let world = world();
    world.fill();
    world.start_with(SLEEPER, |request| request.description = Some("Update copyright year".to_owned()));
    let reply = world.done("list_background_tasks", json!({}));
    let lines: Vec<_> = reply.text.lines().collect();
    assert_eq!(
        lines[0],
        "ID                               Status      Started             Duration  Description"
    );
    let rules = [32, 11, 19, 9, 24].map(|width| "─".repeat(width));
    assert_eq!(lines[1], rules.join(" "));
    assert_eq!(lines.len(), 8);
    let waiting = &lines[2];
    assert_eq!(&waiting[33..], "pending     -                   -         Update copyright year");
    assert!(lines[3][33..].starts_with("running     20"), "{}", lines[3]);
    let took = reply.data["tasks"][1]["duration"].as_f64().unwrap();
    assert_eq!(lines[3][65..75], format!("{:<10}", briefly((took * 1000.0) as u64)), "{}", lines[3]);
}

/// Every shown id is accepted as an argument.
#[test]
fn ids_of_the_same_second_and_of_long_programs_are_usable() {
    let world = world();
    let long = world.home.work().join("a-program-with-a-rather-long-name.sh");
    std::fs::write(&long, "#!/bin/sh\nexit 0\n").unwrap();
    let mut permissions = std::fs::metadata(&long).unwrap().permissions();
    std::os::unix::fs::PermissionsExt::set_mode(&mut permissions, 0o755);
    std::fs::set_permissions(&long, permissions).unwrap();
    let mut ids = HashSet::new();
    for _ in 0..12 {
        for command in ["true", "./a-program-with-a-rather-long-name.sh"] {
            let given = json!({"command": command, "description": "d"});
            ids.insert(text(&world.done("start_background_task", given).data, "task_id").to_owned());
        }
    }
    assert_eq!(ids.len(), 24);
    let reply = world.done("list_background_tasks", json!({}));
    let listed: Vec<_> = reply.text.lines().skip(2).map(|line| line.split(' ').next().unwrap()).collect();
    assert_eq!(listed.len(), 24);
    for id in listed {
        assert!(ids.contains(id), "{id}");
        assert_eq!(world.done("check_task_status", json!({"task_id": id})).data["task_id"], id);
    }
}

#[test]
fn commands_are_split_and_run_without_a_shell_unless_asked() {
    let world = world();
    let run = |given: Value| {
        let id = text(&world.done("start_background_task", given).data, "task_id").to_owned();
        world.over(&world.task(&id).id);
        text(&world.done("check_task_status", json!({"task_id": id})).data, "output").to_owned()
    };
    assert_eq!(run(json!({"command": "echo 'a  b' $HOME ; ls", "description": "d"})), "a  b $HOME ; ls");
    assert_eq!(run(json!({"command": "echo $((1+1)); echo b", "description": "d", "shell": true})), "2\nb");
    std::fs::create_dir(world.home.work().join("sub")).unwrap();
    let there = run(json!({"command": "pwd", "description": "d", "working_directory": "sub"}));
    assert_eq!(there, world.home.work().join("sub").to_string_lossy());
    for command in ["", "   ", "echo 'open", "echo \\"] {
        let reply = world.refused("start_background_task", json!({"command": command, "description": "d"}));
        assert!(reply.text.starts_with("command "), "{}", reply.text);
    }
    for given in [json!({"command": "true"}), json!({"description": "d"})] {
        assert!(world.refused("start_background_task", given).text.ends_with("is missing."));
    }
    let missing = json!({"command": "no-such-program-here --x", "description": "d"});
    let before = world.tasks().len();
    assert!(world.refused("start_background_task", missing).text.contains("no-such-program-here"));
    assert_eq!(world.tasks().len(), before, "no phantom task");
}

/// `test_concurrent_tasks`: six started, five running, one pending.
#[test]
fn the_sixth_task_is_queued() {
    let world = world();
    let (mut states, mut said) = (Vec::new(), String::new());
    for _ in 0..6 {
        let given = json!({"command": "sleep 600", "description": "Wait"});
        let reply = world.done("start_background_task", given);
        states.push(reply.data["status"].clone());
        said = reply.text;
    }
    assert_eq!(states, ["running", "running", "running", "running", "running", "pending"]);
    let listed = world.done("list_background_tasks", json!({"status_filter": "pending"}));
    let waiting = text(&listed.data["tasks"][0], "task_id").to_owned();
    // A queued task is not reported as started, and has no log yet.
    let wanted = format!(
        "Queued background task {waiting} (pending, position 1 in the queue): Wait\nCheck status: /status {waiting}"
    );
    assert_eq!(said, wanted);
    let status = world.done("check_task_status", json!({"task_id": waiting})).text;
    assert_eq!(status, format!("Task: {waiting}\nStatus: pending"));
    let reply = world.done("cancel_background_task", json!({"task_id": waiting}));
    assert_eq!(reply.data["status"], "cancelled");
    let status = world.done("check_task_status", json!({"task_id": waiting})).text;
    assert!(!status.contains("output.log"), "{status}");
}

/// Directory, record and log header have the id of the start reply.
#[test]
fn a_task_has_the_same_id_in_replies_and_files() {
    let mut world = world();
    world.log_headers();
    let given = json!({"command": "echo one", "description": "d"});
    let id = text(&world.done("start_background_task", given).data, "task_id").to_owned();
    let task = world.over(&world.task(&id).id);
    let directory = world.home.state().join("tasks").join(&id);
    let log = std::fs::read_to_string(directory.join("output.log")).unwrap();
    assert!(log.starts_with(&format!("# Background task: {id}\n# Command: echo one\n")), "{log}");
    let record = wait_until(SOON, "the record has the end", || {
        let record: Value =
            serde_json::from_slice(&std::fs::read(directory.join("metadata.json")).ok()?).ok()?;
        (record["status"] == "completed").then_some(record)
    });
    assert_eq!(record["task_id"], id, "{record}");
    world.runtime.retention().clear(&[task.id], None).unwrap();
    assert!(!directory.is_symlink(), "its link is removed with the task");
}

/// `Running: 132/247 files processed (53%)`.
#[test]
fn the_status_of_a_running_task_has_its_progress() {
    let world = world();
    let task = world.start("echo '132/247 files processed'; exec sleep 600");
    world.home.until_logged(task.id.as_str(), "processed");
    let reply = world.done("check_task_status", json!({"task_id": task.id}));
    assert_eq!(reply.text.lines().nth(2), Some("Running: 132/247 files processed (53%)"), "{}", reply.text);
    assert_eq!(reply.data["progress"]["done"], 132, "{}", reply.data);
    let screen = screens::status(&world.task(task.id.as_str()), "", Dialect::CoCli, "x".as_ref());
    assert!(screen.contains("\nRunning: 132/247 files processed (53%)\n"), "{screen}");
}

/// A task that ends by itself during a cancel is not reported as cancelled.
#[test]
fn a_cancel_reports_the_real_outcome() {
    let world = world();
    let id = world.start(&gated("go", 3)).id;
    let pair = world.home.pair(id.as_str());
    let both = [pair.supervisor, pair.guardian];
    let stop = Command::new("kill").arg("-STOP").args(both.map(|pid| pid.to_string())).status();
    assert!(stop.unwrap().success());
    let leader = world.task(id.as_str()).pid.unwrap();
    world.home.open("go");
    wait_until(SOON, "the command has exited", || processes::command_line(leader).is_empty().then_some(()));
    // The task ends just before or after the request: the reply must be right in both cases.
    let words = format!("sleep 0.2; kill -CONT {} {}", both[0], both[1]);
    let mut waking = Command::new("sh").args(["-c", &words]).spawn().unwrap();
    let reply = world.call("cancel_background_task", json!({"task_id": id}));
    assert!(waking.wait().unwrap().success());
    let task = world.over(&id);
    assert_eq!(task.exit_code, Some(3));
    let word = Dialect::CoCli.word(task.status, task.cause_value());
    assert_eq!(reply.data["status"].as_str(), Some(word), "{} {task:?}", reply.text);
    assert_eq!(reply.failed, word != "cancelled", "{}", reply.text);
}

/// Format L9.
#[test]
fn the_status_screen_has_the_format_of_the_source() {
    let world = world();
    let task = world.finished("echo one; echo two");
    let screen = screens::status(&task, "one\ntwo\n", Dialect::CoCli, task.output_path.as_ref());
    let lines: Vec<_> = screen.lines().collect();
    assert_eq!(lines[0], format!("Task: {}", Dialect::CoCli.handle(&task)));
    assert_eq!(lines[1..3], ["Status: completed", "Command: echo one; echo two"]);
    assert!(lines[3].starts_with("Started: 20") && lines[3].len() == "Started: 2026-02-09 14:30:22".len());
    assert!(lines[4].starts_with("Completed: 20"));
    assert_eq!(lines[5], format!("Duration: {}", briefly(task.duration_ms.unwrap())));
    assert_eq!(lines[6..8], ["Exit code: 0", ""]);
    assert_eq!(lines[8], "Recent output (last 20 lines):");
    assert_eq!(lines[9], "─".repeat(60));
    assert_eq!(lines[10..13], ["one", "two", ""]);
    assert_eq!(lines[13], format!("Full output: {}", task.output_path));
    assert_eq!(lines[14], format!("Trace: mw traces --span {}", task.span_id.unwrap()));
    assert_eq!(lines.len(), 15);
}

#[test]
fn parameters_match_the_source() {
    let specs = world().tools.specs(Background::On);
    let required: Vec<_> =
        specs.iter().map(|spec| (spec.name.as_str(), spec.input_schema["required"].clone())).collect();
    assert_eq!(
        required,
        [
            ("start_background_task", json!(["command", "description"])),
            ("check_task_status", json!(["task_id"])),
            ("cancel_background_task", json!(["task_id"])),
            ("list_background_tasks", json!([])),
        ]
    );
    assert!(specs[0].description.contains("Example: command "), "{}", specs[0].description);
    assert_eq!(specs[1].input_schema["properties"]["include_output"]["default"], true);
    assert_eq!(
        specs[3].input_schema["properties"]["status_filter"]["enum"],
        json!(["pending", "running", "completed", "failed", "cancelled"])
    );
}
