//! Task directories that are removed while their tasks run.

use std::fs;

use mw_testkit::contract::pids;
use mw_testkit::{Home, SOON, alive, children, wait_until};

use crate::home;

/// Returns a home with a task named `srv` that the database knows and whose directory is gone, its id and its process.
fn removed(script: &str) -> (Home, String, u32) {
    let home = home();
    let id = home.start_with(&["--name", "srv"], script);
    let pid = home.pid(&id);
    assert_eq!(home.list().len(), 1, "the task is in the database");
    fs::remove_dir_all(home.task_dir(&id)).unwrap();
    (home, id, pid)
}

#[test]
fn a_task_without_directory_is_running_until_its_process_ends_and_then_lost() {
    let (home, id, pid) = removed(children::SLEEPER);
    assert_eq!(home.status(&id)["status"], "running");
    let wait = home.command(["wait", &id]).spawn();
    home.kill_process(pid);
    assert_eq!(wait.wait().code, Some(125), "the wait ends with the code for an unknown outcome");
    let task = home.status(&id);
    assert_eq!(task["status"], "lost", "{task}");
    assert!(task["cause"].as_str().unwrap().contains("directory was removed"), "{task}");
    let again = home.start_with(&["--name", "srv"], "true");
    assert_eq!(home.ended(&again)["status"], "completed", "the name is free");
    let _ = home.mw(["clear", &id]).ok();
    assert_eq!(home.list().len(), 1);
    home.wait_until_empty(SOON);
}

#[test]
fn a_task_without_directory_is_killed_with_its_process_tree() {
    let kid = children::leave_setsid("kid");
    let (home, id, pid) = removed(&format!("{kid}\n{}", children::SLEEPER));
    let kid = home.pid_in("kid");
    let receipt = home.mw(["kill", "--json", &id]).exits(0).json();
    let killed = pids(&receipt["killed"]);
    assert!(killed.contains(&u64::from(pid)) && killed.contains(&u64::from(kid)), "{receipt}");
    assert!(!alive(pid) && !alive(kid), "{receipt}");
    assert_eq!(receipt["status"], "lost", "{receipt}");
    assert_eq!(receipt["survivors"], serde_json::json!([]), "{receipt}");
    home.wait_until_empty(SOON);
}

#[test]
fn a_task_without_directory_that_ignores_sigterm_is_killed_and_cleared() {
    let home = home().with_env("MEANWHILE_KILL_GRACE_MS", "200");
    let id = home.start(children::STUBBORN);
    home.until_logged(&id, "ready");
    let pid = home.pid(&id);
    let _ = home.list();
    fs::remove_dir_all(home.task_dir(&id)).unwrap();
    let refused = home.mw(["clear", "--json", &id]).refusal(6);
    assert!(refused.to_string().contains("--kill"), "{refused}");
    let report = home.mw(["clear", "--kill", "--json", &id]).exits(0).json();
    assert_eq!(report["cleared"], serde_json::json!([id]), "{report}");
    assert!(!alive(pid));
    assert_eq!(home.list().len(), 0);
}

#[test]
fn a_task_without_journal_is_not_lost_while_its_supervisor_answers() {
    let home = home();
    let id = home.start(&children::gated("go", 7));
    home.until_logged(&id, "waiting");
    let _ = home.list();
    fs::remove_file(home.task_dir(&id).join("journal.jsonl")).unwrap();
    assert_eq!(home.status(&id)["status"], "running");
    home.open("go");
    assert_eq!(home.ended(&id)["exit_code"], 7);
}

#[test]
fn a_task_without_journal_and_supervisors_is_lost() {
    let home = home();
    let id = home.start(children::SLEEPER);
    let pid = home.pid(&id);
    let _ = home.list();
    fs::remove_file(home.task_dir(&id).join("journal.jsonl")).unwrap();
    home.kill_supervisors(&id);
    home.kill_process(pid);
    home.until_dead(pid);
    let task = wait_until(SOON, "the task has ended", || {
        Some(home.status(&id)).filter(|task| task["status"] != "running")
    });
    assert_eq!(task["status"], "lost", "{task}");
    assert!(task["cause"].as_str().unwrap().contains("journal"), "{task}");
}
