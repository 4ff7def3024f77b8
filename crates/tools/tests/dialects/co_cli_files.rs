//! The files of a task that co-cli's own tools read: `metadata.json` and `span_id.txt`.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use meanwhile::engine::model::wire::Metadata;
use meanwhile::engine::{KillRequest, Runtime, TaskRequest};
use meanwhile::settings::{RedactSettings, SecretPattern};
use meanwhile::{Scope, Settings, Task};
use mw_model::{CommandSpec, EnvVar};
use mw_testkit::children::{SLEEPER, gated};
use mw_testkit::{SOON, wait_until};
use mw_tools::Dialect;
use serde_json::Value;

use crate::world::World;

const METADATA: &str = "metadata.json";
const SPAN: &str = "span_id.txt";
const TOKEN: &str = "ghp_0123456789abcdefghijABCDEFGHIJ012345";

fn world() -> World {
    World::new(Dialect::CoCli)
}

fn start_with(world: &World, script: &str, change: impl FnOnce(&mut TaskRequest)) -> Task {
    world.start_with(script, |request| {
        request.dialect = Dialect::CoCli;
        change(request);
    })
}

fn start(world: &World, script: &str) -> Task {
    start_with(world, script, |_| {})
}

fn file(world: &World, task: &Task, name: &str) -> PathBuf {
    world.home.task_dir(task.id.as_str()).join(name)
}

/// Returns the metadata once it has a status; it is written shortly after the change.
fn metadata(world: &World, task: &Task, status: &str) -> Metadata {
    let path = file(world, task, METADATA);
    wait_until(SOON, &format!("the metadata says {status}"), || {
        let found: Metadata = serde_json::from_slice(&fs::read(&path).ok()?).unwrap();
        (found.status.word() == status).then_some(found)
    })
}

#[test]
fn metadata_has_the_layout_of_co_cli() {
    let world = world();
    let task = start_with(&world, "exit 3", |request| {
        request.description = Some("fails".to_owned());
        request.env.push(EnvVar { name: "KEY".into(), value: "value".into() });
    });
    let found = metadata(&world, &task, "failed");
    let task = world.over(&task.id);
    assert_eq!(found.task_id, task.handle());
    assert_eq!(found.exit_code, Some(3));
    assert_eq!(found.description, "fails");
    assert_eq!(found.command, ["/bin/sh", "-c", "exit 3"]);
    assert!(found.env.contains(&"KEY".to_owned()), "{found:?}");
    assert!(found.started_at.is_some() && found.completed_at.is_some(), "{found:?}");
    assert_eq!((found.approved_by.as_str(), found.approved_at), ("user", task.approved_at));
    let mode = fs::metadata(file(&world, &task, METADATA)).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn metadata_of_a_running_task_has_its_status_and_pid() {
    let world = world();
    let task = start(&world, &gated("go", 0));
    assert_eq!(metadata(&world, &task, "running").pid, task.pid);
}

/// co-cli writes the record before anything runs.
#[test]
fn queued_and_never_started_tasks_have_metadata() {
    let world = world();
    world.fill();
    let waiting = start(&world, "true");
    let found = metadata(&world, &waiting, "pending");
    assert_eq!((found.pid, found.started_at), (None, None), "{found:?}");
    assert!(file(&world, &waiting, SPAN).is_file());
    let kill = KillRequest { by: "the user".to_owned(), signal: 15, grace_ms: None };
    drop(world.runtime.live().kill(waiting.id.as_str(), &Scope::All, &kill).unwrap());
    let found = metadata(&world, &waiting, "cancelled");
    assert_eq!((found.exit_code, found.started_at), (None, None), "{found:?}");
    assert!(found.completed_at.is_some(), "{found:?}");
}

/// co-cli has five states.
#[test]
fn metadata_uses_only_the_states_of_co_cli() {
    let world = world();
    let late = start_with(&world, "exec sleep 600", |request| request.limits.run_timeout_ms = Some(100));
    assert_eq!(world.over(&late.id).status.word(), "timed_out");
    let _ = metadata(&world, &late, "failed");
}

#[test]
fn the_span_id_is_in_the_files_and_in_the_status() {
    let world = world();
    let task = start(&world, "true");
    let found = metadata(&world, &task, "completed");
    let shown = world.home.status(task.id.as_str());
    let span = shown["span_id"].as_str().unwrap();
    let text = wait_until(SOON, "the span's file", || fs::read_to_string(file(&world, &task, SPAN)).ok());
    assert_eq!(text, format!("{span}\n"));
    assert_eq!(found.span_id.unwrap().to_string(), span);
    assert_eq!(found.trace_id.unwrap().to_string(), shown["trace_id"].as_str().unwrap());
}

#[test]
fn metadata_has_names_of_variables_but_no_secrets() {
    let world = world();
    let task = start_with(&world, "", |request| {
        request.command = CommandSpec::Argv(["echo", "--token", TOKEN].map(Into::into).to_vec());
        request.env.push(EnvVar { name: "DB_PASSWORD".into(), value: "tr0mb0ne-and-drum".into() });
    });
    let found = metadata(&world, &task, "completed");
    assert_eq!(found.command, ["echo", "--token", "[redacted:github-token]"]);
    assert!(found.env.contains(&"DB_PASSWORD".to_owned()), "{found:?}");
    let text = fs::read_to_string(file(&world, &task, METADATA)).unwrap();
    assert!(!text.contains(TOKEN) && !text.contains("tr0mb0ne"), "{text}");
    assert_eq!(world.home.log(task.id.as_str()), format!("--token {TOKEN}\n").as_bytes());
}

#[test]
fn a_queued_task_keeps_the_redaction_of_its_start() {
    let mut world = world();
    let patterns = vec![SecretPattern::new("CASE-[0-9]+").unwrap()];
    let redact = RedactSettings { enabled: true, patterns };
    world.runtime = Runtime::open(Settings { redact, ..world.runtime.settings().clone() }).unwrap();
    let first = world.fill().remove(0);
    let waiting = start(&world, &format!(": CASE-77; {SLEEPER}"));
    let _ = metadata(&world, &waiting, "pending");
    // Another process without the pattern ends one task and launches the next.
    world.home.mw(["kill", first.id.as_str()]).ok();
    let _ = metadata(&world, &waiting, "running");
    let text = fs::read_to_string(file(&world, &waiting, METADATA)).unwrap();
    assert!(!text.contains("CASE-77"), "{text}");
}

#[test]
fn changes_to_the_metadata_file_have_no_effect() {
    let world = world();
    let task = start(&world, "exit 3");
    let _ = metadata(&world, &task, "failed");
    world.home.wait_until_empty(SOON);
    let path = file(&world, &task, METADATA);
    let mut view: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    view["status"] = "completed".into();
    view["exit_code"] = 0.into();
    fs::write(&path, view.to_string()).unwrap();
    world.home.delete_database();
    assert_eq!(world.home.status(task.id.as_str())["exit_code"], 3);
}

#[test]
fn tasks_of_other_dialects_have_no_co_cli_files() {
    let world = world();
    let done = world.finished("true");
    let running = world.start(&gated("go", 0));
    // The control socket is opened when the metadata would be written.
    wait_until(SOON, "the control socket exists", || {
        file(&world, &running, "control").exists().then_some(())
    });
    world.fill();
    let waiting = world.tasks().into_iter().find(|task| task.status.word() == "pending").unwrap();
    world.home.open("go");
    world.over(&running.id);
    for task in [done, running, waiting] {
        for name in [METADATA, SPAN] {
            assert!(!file(&world, &task, name).exists(), "{name} of {}", task.id);
        }
    }
}
