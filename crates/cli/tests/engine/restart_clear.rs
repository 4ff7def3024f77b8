//! `mw restart` and `mw clear`.

use std::fs;

use mw_testkit::contract::count;
use mw_testkit::{SOON, alive, children};

use crate::home;

#[test]
fn a_restart_is_a_new_run_of_the_same_task() {
    let home = home();
    let id = home.start("echo run >> runs; wc -l < runs; exit 3");
    assert_eq!(home.ended(&id)["exit_code"], 3);
    let answer = home.mw(["restart", "--json", &id]).exits(0).json();
    assert_eq!(answer["id"], id.as_str(), "{answer}");
    let task = home.ended(&id);
    assert_eq!(count(&task["runs"]), 2, "{task}");
    assert_eq!(task["exit_code"], 3, "{task}");
    assert_eq!(String::from_utf8_lossy(&home.log(&id)).trim(), "2");
}

#[test]
fn the_output_of_an_earlier_run_is_kept() {
    let home = home();
    let id = home.start("echo run >> runs; wc -l < runs");
    home.ended(&id);
    let _ = home.mw(["restart", &id]).ok();
    home.ended(&id);
    let text = |run: &[&str]| home.mw(["output", &id].iter().chain(run)).ok().trim().to_owned();
    assert_eq!(text(&["--run", "1"]), "1");
    assert_eq!(text(&["--run", "2"]), "2");
    assert_eq!(text(&[]), "2");
}

#[test]
fn a_restart_of_a_running_task_ends_it_first() {
    let home = home();
    let id = home.start(&format!("{}\nexec sleep 600", children::leave_setsid("kid")));
    let (before, kid) = (home.pid(&id), home.pid_in("kid"));
    fs::remove_file(home.work().join("kid")).unwrap();
    let _ = home.mw(["restart", &id]).ok();
    assert!(!alive(before) && !alive(kid), "the old run is still alive");
    let task = home.until_status(&id, "running");
    assert_ne!(task["pid"], before, "{task}");
    assert_eq!(count(&task["runs"]), 2, "{task}");
}

#[test]
fn a_restart_has_the_environment_and_directory_of_the_first_run() {
    let home = home();
    let inner = home.work().join("inner");
    fs::create_dir(&inner).unwrap();
    let outcome =
        home.command(["start", "--json", "echo \"$WORD\"; pwd -P"]).env("WORD", "mine").cwd(&inner).run();
    let id = outcome.exits(0).json()["id"].as_str().unwrap().to_owned();
    home.ended(&id);
    let first = home.log(&id);
    let _ = home.command(["restart", &id]).env("WORD", "other").run().ok();
    home.ended(&id);
    assert_eq!(home.log(&id), first);
}

#[test]
fn a_restart_without_a_slot_is_queued() {
    let home = home().with_env("MEANWHILE_QUEUE_MAX_RUNNING", "1");
    let id = home.start("exit 0");
    home.ended(&id);
    // A slot is freed shortly after the end is recorded.
    home.wait_until_empty(SOON);
    let blocker = home.start(&children::gated("go", 0));
    let answer = home.mw(["restart", "--json", &id]).exits(0).json();
    assert_eq!((&answer["status"], &answer["queue_position"]), (&"pending".into(), &1.into()), "{answer}");
    home.open("go");
    home.ended(&blocker);
    home.until_status(&id, "completed");
}

#[test]
fn a_killed_task_can_be_restarted() {
    let home = home();
    let id = home.start(children::SLEEPER);
    let _ = home.mw(["kill", &id]).ok();
    let _ = home.mw(["restart", &id]).ok();
    let task = home.status(&id);
    assert_eq!(task["status"], "running", "{task}");
    assert!(task["ended_at"].is_null() && task["cause"].is_null(), "{task}");
}

#[test]
fn clearing_removes_finished_tasks_and_their_files() {
    let home = home();
    let (live, over) = (home.start(children::SLEEPER), home.start("true"));
    home.ended(&over);
    let _ = home.mw(["clear", "--finished"]).ok();
    let left: Vec<_> = home.list().iter().map(|task| task["id"].clone()).collect();
    assert_eq!(left, [live.as_str()]);
    assert!(!home.task_dir(&over).exists());
    assert!(home.task_dir(&live).exists());
    let _ = home.mw(["status", "--json", &over]).refusal(5);
}

#[test]
fn one_task_can_be_cleared() {
    let home = home();
    let (one, other) = (home.start("true"), home.start("true"));
    home.ended(&one);
    home.ended(&other);
    let _ = home.mw(["clear", &one]).ok();
    let left: Vec<_> = home.list().iter().map(|task| task["id"].clone()).collect();
    assert_eq!(left, [other.as_str()]);
}

#[test]
fn a_running_task_is_not_cleared() {
    let home = home();
    let id = home.start(children::SLEEPER);
    let _ = home.mw(["clear", "--json", &id]).refusal(6);
    assert_eq!(home.status(&id)["status"], "running");
}

#[test]
fn a_running_task_is_cleared_with_kill() {
    let home = home();
    let id = home.start(children::SLEEPER);
    let pid = home.pid(&id);
    let _ = home.mw(["clear", &id, "--kill"]).ok();
    assert!(!alive(pid));
    assert_eq!(home.list().len(), 0);
    home.wait_until_empty(SOON);
    assert!(!home.task_dir(&id).exists());
}

#[test]
fn a_batch_can_be_cleared() {
    let home = home();
    let inside = home.start_with(&["--batch", "b1"], "true");
    let outside = home.start("true");
    home.ended(&inside);
    home.ended(&outside);
    let _ = home.mw(["clear", "--batch", "b1"]).ok();
    let left: Vec<_> = home.list().iter().map(|task| task["id"].clone()).collect();
    assert_eq!(left, [outside.as_str()]);
}

#[test]
fn a_task_with_survivors_is_cleared_only_with_kill() {
    let home = home();
    let id = home.start(&format!("{}\nexit 0", children::leave_setsid("kid")));
    home.ended(&id);
    let kid = home.pid_in("kid");
    let _ = home.mw(["clear", "--json", &id]).refusal(6);
    assert!(alive(kid), "a refused command killed the child");
    assert_eq!(home.list().len(), 1);
    let report = home.mw(["clear", "--json", "--kill", &id]).exits(0).json();
    assert_eq!(report, serde_json::json!({"cleared": [id], "kept": []}));
    assert!(!alive(kid), "the task was cleared, but its child is alive");
    assert_eq!(home.list().len(), 0);
    home.wait_until_empty(SOON);
}

#[test]
fn numbers_of_cleared_tasks_are_not_reused() {
    let home = home();
    let first = home.start("true");
    home.ended(&first);
    let _ = home.mw(["clear", &first]).ok();
    let second = home.start("true");
    assert_eq!(home.status("bash_2")["id"], second.as_str());
    let _ = home.mw(["status", "--json", "bash_1"]).refusal(5);
}

#[test]
fn a_restart_in_a_removed_directory_is_refused_and_changes_nothing() {
    let home = home();
    let place = home.work().join("place");
    fs::create_dir(&place).unwrap();
    let id = home.start_with(&["--cwd", place.to_str().unwrap()], children::SLEEPER);
    let pid = home.pid(&id);
    fs::remove_dir(&place).unwrap();
    let error = home.mw(["restart", "--json", &id]).refusal(2);
    assert!(error.to_string().contains("place"), "{error}");
    assert!(alive(pid), "the running task was not ended");
    let task = home.status(&id);
    assert_eq!((&task["status"], &task["runs"]), (&"running".into(), &1.into()), "{task}");
}

#[test]
fn a_restart_that_cannot_start_is_not_reported_as_started() {
    let home = home();
    let id = home.start("true");
    home.ended(&id);
    let restart = || home.command(["restart", &id]).env("MEANWHILE_SUPERVISOR", "/nonexistent/supervisor");
    let said = restart().run().exits(127).text();
    assert!(said.contains("did not start") && said.contains("/nonexistent"), "{said}");
    let answer = restart().arg("--json").run().exits(127).json();
    assert_eq!((&answer["status"], &answer["pid"]), (&"failed".into(), &serde_json::Value::Null), "{answer}");
    assert!(answer["cause"].to_string().contains("/nonexistent"), "{answer}");
}
