//! Invariants that hold after every crash.

use std::collections::BTreeSet;
use std::fs;
use std::time::{Duration, Instant};

use mw_model::Status;
use mw_testkit::{Home, wait_until};
use serde_json::Value;

/// How long it may take until the state is consistent.
const LIMIT: Duration = Duration::from_secs(90);

/// Returns the ids of the task directories that hold anything.
fn directories(home: &Home) -> BTreeSet<String> {
    let Ok(entries) = fs::read_dir(home.state().join("tasks")) else {
        return BTreeSet::new();
    };
    let names = entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
    names.collect()
}

fn ids(tasks: &[Value]) -> BTreeSet<String> {
    tasks.iter().map(|task| task["id"].as_str().unwrap().to_owned()).collect()
}

fn status(task: &Value) -> Status {
    match task["status"].as_str().and_then(Status::from_word) {
        Some(status) => status,
        None => panic!("no status: {task}"),
    }
}

/// Waits until every task has ended with one of the given statuses, the directories and the list agree, and no
/// process is left. `lost` is always allowed, because it claims no outcome.
///
/// # Errors
/// The condition that does not hold.
pub fn truth(home: &Home, endings: &[&str]) -> Result<(), String> {
    let begun = Instant::now();
    loop {
        let wrong = match look(home, endings) {
            Ok(()) => return Ok(()),
            Err(wrong) => wrong,
        };
        if begun.elapsed() > LIMIT {
            return Err(wrong);
        }
        // Without a pause: the query itself takes a few milliseconds.
        std::thread::yield_now();
    }
}

fn look(home: &Home, endings: &[&str]) -> Result<(), String> {
    let tasks = home.list();
    for task in &tasks {
        if !status(task).is_terminal() {
            return Err(format!("not ended: {task}"));
        }
        let word = task["status"].as_str().unwrap_or_default();
        if word != "lost" && !endings.contains(&word) {
            return Err(format!("unexpected status: {task}"));
        }
    }
    if directories(home) != ids(&tasks) {
        return Err(format!("directories {:?}, listed {:?}", directories(home), ids(&tasks)));
    }
    match home.tagged().as_slice() {
        [] => Ok(()),
        left => Err(format!("processes {left:?} are left")),
    }
}

/// As [`truth`].
///
/// # Panics
/// When it does not hold.
#[track_caller]
pub fn assert_true(home: &Home, endings: &[&str]) {
    if let Err(wrong) = truth(home, endings) {
        panic!("{wrong}");
    }
}

/// Kills every task and waits until no process is left.
///
/// # Errors
/// The task that cannot be killed.
pub fn reach_all(home: &Home) -> Result<(), String> {
    let outcome = home.mw(["kill", "--json", "--all", "--grace", "300ms"]);
    if outcome.code != Some(0) {
        return Err(outcome.to_string());
    }
    let begun = Instant::now();
    while !home.tagged().is_empty() {
        if begun.elapsed() > LIMIT {
            return Err(format!("processes {:?} cannot be reached", home.tagged()));
        }
        std::thread::yield_now();
    }
    Ok(())
}

/// Waits until no task is pending.
///
/// # Panics
/// When one stays so although there are free slots.
#[track_caller]
pub fn none_pending(home: &Home) {
    wait_until(LIMIT, "no task is pending", || {
        home.list().iter().all(|task| status(task) != Status::Pending).then_some(())
    });
}
