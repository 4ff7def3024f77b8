//! A deleted database is rebuilt from the task directories.

use std::collections::BTreeMap;
use std::fs;

use mw_testkit::{Home, SOON, alive, children};
use serde_json::Value;

use crate::home;

/// The fields that must not change when the database is rebuilt.
const LASTING: [&str; 17] = [
    "id",
    "kind",
    "name",
    "description",
    "status",
    "command",
    "cwd",
    "session",
    "batch_id",
    "created_at",
    "started_at",
    "exit_code",
    "signal",
    "output_bytes",
    "dropped_bytes",
    "lifetime",
    "approved_by",
];

fn picture(home: &Home) -> BTreeMap<String, Vec<Value>> {
    let tasks = home.list();
    let facts = |task: &Value| LASTING.iter().map(|field| task[*field].clone()).collect();
    tasks.iter().map(|task| (task["id"].as_str().unwrap().to_owned(), facts(task))).collect()
}

#[test]
fn a_rebuild_restores_finished_tasks() {
    let home = home();
    let named = home.start_with(&["--name", "n", "--description", "d", "--batch", "b"], "echo hi; exit 0");
    let ids = [named, home.start("exit 3"), home.start("kill -SEGV $$"), home.start(children::SLEEPER)];
    let _ = home.mw(["kill", &ids[3]]).ok();
    let timed = home.start_with(&["--timeout", "200ms"], children::SLEEPER);
    let capped = home.start_with(&["--cap", "10KiB"], &children::numbers(10_000));
    for id in ids.iter().chain([&timed, &capped]) {
        home.ended(id);
    }
    home.wait_until_empty(SOON);
    let before = picture(&home);
    home.delete_database();
    assert_eq!(picture(&home), before);
}

#[test]
fn a_running_task_stays_controllable_without_the_database() {
    let home = home();
    let id = home.start(children::SLEEPER);
    let pid = home.pid(&id);
    home.delete_database();
    let task = home.status(&id);
    assert_eq!((&task["status"], &task["pid"]), (&"running".into(), &pid.into()), "{task}");
    let receipt = home.mw(["kill", "--json", &id]).exits(0).json();
    assert_eq!(receipt["status"], "cancelled", "{receipt}");
    assert!(!alive(pid));
}

#[test]
fn a_task_that_ends_after_the_database_was_lost_is_recorded() {
    let home = home();
    let id = home.start(&children::gated("go", 7));
    home.delete_database();
    home.open("go");
    assert_eq!(home.ended(&id)["exit_code"], 7);
}

#[test]
fn a_queued_task_starts_after_a_rebuild() {
    let home = home().with_env("MEANWHILE_QUEUE_MAX_RUNNING", "1");
    let first = home.start(&children::gated("go", 0));
    let second = home.start("touch second; exit 4");
    home.delete_database();
    assert_eq!(home.status(&second)["status"], "pending");
    home.open("go");
    home.ended(&first);
    assert_eq!(home.ended(&second)["exit_code"], 4);
    assert!(home.has_file("second"));
}

#[test]
fn a_rebuild_restores_sessions_and_numbers() {
    let home = home();
    let outcome = home.command(["start", "--json", "exit 3"]).session("mine").run().exits(0);
    let id = outcome.json()["id"].as_str().unwrap().to_owned();
    home.ended(&id);
    home.delete_database();
    let task = home.command(["status", "--json", "bash_1"]).session("mine").run().exits(0).json();
    assert_eq!(task["id"], id.as_str(), "{task}");
    let _ = home.command(["status", "--json", &id]).session("theirs").run().refusal(5);
}

#[test]
fn a_rebuild_restores_earlier_runs() {
    let home = home();
    let id = home.start("echo x >> n; wc -l < n; exit 3");
    home.ended(&id);
    let _ = home.mw(["restart", &id]).ok();
    home.ended(&id);
    home.wait_until_empty(SOON);
    home.delete_database();
    let task = home.status(&id);
    assert_eq!(mw_testkit::contract::count(&task["runs"]), 2, "{task}");
    assert_eq!(home.mw(["output", &id, "--run", "1"]).ok().trim(), "1");
}

#[test]
fn a_task_cancelled_in_the_queue_stays_cancelled_after_a_rebuild() {
    let home = home().with_env("MEANWHILE_QUEUE_MAX_RUNNING", "1");
    let first = home.start(&children::gated("go", 0));
    let second = home.start("touch second");
    let _ = home.mw(["kill", &second]).ok();
    home.delete_database();
    home.open("go");
    home.ended(&first);
    let task = home.ended(&second);
    assert_eq!(task["status"], "cancelled", "{task}");
    home.wait_until_empty(SOON);
    assert!(!home.has_file("second"));
}

#[test]
fn concurrent_commands_rebuild_one_database() {
    let home = home();
    let ids: Vec<_> = (0..10).map(|_| home.start("exit 3")).collect();
    for id in &ids {
        home.ended(id);
    }
    home.delete_database();
    let many: Vec<_> = (0..6).map(|_| home.command(["list", "--json"]).spawn()).collect();
    for one in many {
        assert_eq!(one.wait().exits(0).json()["total"], 10);
    }
}

#[test]
fn foreign_files_among_the_task_directories_are_left_alone() {
    let home = home();
    let id = home.start("exit 3");
    home.ended(&id);
    let foreign = home.state().join("tasks/notes.txt");
    fs::write(&foreign, "mine").unwrap();
    fs::create_dir(home.state().join("tasks/bash-00000000")).unwrap();
    home.delete_database();
    let ids: Vec<_> = home.list().iter().map(|task| task["id"].clone()).collect();
    assert_eq!(ids, [id.as_str()]);
    assert_eq!(fs::read(&foreign).unwrap(), b"mine");
}
