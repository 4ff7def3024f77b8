//! The queue: limits, order, refusal, and progress without a daemon.

use std::fs;

use mw_testkit::{Home, SOON, children, wait_until};

use crate::home;

fn limited(limit: u32) -> Home {
    home().with_env("MEANWHILE_QUEUE_MAX_RUNNING", limit.to_string())
}

/// Waits until a file has that many lines, and returns them.
fn lines(home: &Home, file: &str, count: usize) -> Vec<String> {
    home.lines_in(file, count).lines().map(str::to_owned).collect()
}

#[test]
fn a_task_without_a_slot_is_queued_with_its_position() {
    let home = limited(1);
    let _first = home.start(children::SLEEPER);
    for place in [1, 2, 3] {
        let answer = home.mw(["start", "--json", "true"]).exits(0).json();
        assert_eq!(answer["status"], "pending", "{answer}");
        assert_eq!(answer["queue_position"], place, "{answer}");
        assert!(answer["pid"].is_null(), "{answer}");
        let task = home.status(answer["id"].as_str().unwrap());
        assert_eq!((&task["status"], &task["queue_position"]), (&"pending".into(), &place.into()), "{task}");
    }
}

#[test]
fn eight_tasks_run_at_once_by_default() {
    let home = home();
    let ids = [(); 9].map(|()| home.start(children::SLEEPER));
    let words = ids.each_ref().map(|id| home.status(id)["status"].clone());
    assert_eq!(words.iter().filter(|word| *word == "running").count(), 8);
    assert_eq!(words[8], "pending");
}

#[test]
fn one_of_six_tasks_is_queued_with_a_limit_of_five() {
    let home = limited(5);
    let ids = [(); 6].map(|()| home.start(children::SLEEPER));
    let words = ids.each_ref().map(|id| home.status(id)["status"].clone());
    assert_eq!(words.iter().filter(|word| *word == "running").count(), 5);
    assert_eq!(words[5], "pending");
}

#[test]
fn the_next_queued_task_starts_without_a_command() {
    let home = limited(1);
    let _first = home.start(&children::gated("go", 0));
    let _second = home.start("touch second");
    let _third = home.start("touch third");
    home.open("go");
    // The test only reads files: no command runs that could start a task.
    home.file("second");
    home.file("third");
}

#[test]
fn tasks_of_equal_priority_start_in_order() {
    let home = limited(1);
    let _first = home.start(&children::gated("go", 0));
    for number in 1..=5 {
        let _ = home.start(&format!("echo {number} >> order"));
    }
    home.open("go");
    assert_eq!(lines(&home, "order", 5), ["1", "2", "3", "4", "5"]);
}

#[test]
fn higher_priority_starts_earlier() {
    let home = limited(1);
    let _first = home.start(&children::gated("go", 0));
    for (priority, word) in [("0", "c"), ("-5", "e"), ("7", "a"), ("0", "d"), ("3", "b")] {
        let priority = format!("--priority={priority}");
        let _ = home.start_with(&[&priority], &format!("echo {word} >> order"));
    }
    home.open("go");
    assert_eq!(lines(&home, "order", 5), ["a", "b", "c", "d", "e"]);
}

#[test]
fn a_task_with_higher_priority_changes_the_positions() {
    let home = limited(1);
    let _first = home.start(children::SLEEPER);
    let patient = home.start("true");
    let urgent = home.start_with(&["--priority", "9"], "true");
    assert_eq!(home.status(&urgent)["queue_position"], 1);
    assert_eq!(home.status(&patient)["queue_position"], 2);
}

#[test]
fn a_start_can_be_refused_instead_of_queued() {
    let home = limited(1);
    let first = home.start(children::SLEEPER);
    let _ = home.mw(["start", "--json", "--at-capacity", "reject", "touch ran"]).refusal(6);
    let ids: Vec<_> = home.list().iter().map(|task| task["id"].clone()).collect();
    assert_eq!(ids, [first.as_str()]);
    assert!(!home.has_file("ran"));
    assert_eq!(fs::read_dir(home.state().join("tasks")).unwrap().count(), 1);
}

#[test]
fn a_start_with_a_free_slot_is_not_refused() {
    let home = limited(1);
    let id = home.start_with(&["--at-capacity", "reject"], "exit 2");
    assert_eq!(home.ended(&id)["exit_code"], 2);
}

#[test]
fn a_queued_task_can_be_cancelled() {
    let home = limited(1);
    let first = home.start(&children::gated("go", 0));
    let (second, third) = (home.start("touch second"), home.start("touch third"));
    let receipt = home.mw(["kill", "--json", &second]).exits(0).json();
    assert_eq!(receipt["status"], "cancelled", "{receipt}");
    assert_eq!(receipt["signals"], serde_json::json!([]), "{receipt}");
    let task = home.status(&second);
    assert!(task["started_at"].is_null() && task["exit_code"].is_null(), "{task}");
    assert_eq!(home.status(&third)["queue_position"], 1);
    home.open("go");
    home.ended(&first);
    home.file("third");
    assert!(!home.has_file("second"));
}

#[test]
fn each_session_has_its_own_limit() {
    let home = limited(1);
    for session in ["one", "two"] {
        let outcome = home.command(["start", "--json", children::SLEEPER]).session(session).run();
        assert_eq!(outcome.exits(0).json()["status"], "running");
    }
}

#[test]
fn a_queued_task_that_cannot_start_fails_and_frees_its_slot() {
    let home = limited(1);
    let place = home.work().join("gone");
    fs::create_dir(&place).unwrap();
    let _first = home.start(&children::gated("go", 0));
    let second = home.start_with(&["--cwd", "gone"], "true");
    let third = home.start("exit 3");
    fs::remove_dir(&place).unwrap();
    home.open("go");
    let task = home.ended(&second);
    assert_eq!(task["status"], "failed", "{task}");
    assert!(task["exit_code"].is_null() && task["signal"].is_null(), "{task}");
    assert!(task["cause"].to_string().contains("could not start"), "{task}");
    assert_eq!(home.ended(&third)["exit_code"], 3);
}

#[test]
fn many_short_tasks_all_run() {
    let home = limited(2);
    let ids: Vec<_> = (0..30).map(|number| home.start(&format!("echo {number} >> done; exit 0"))).collect();
    assert_eq!(lines(&home, "done", 30).len(), 30);
    for id in ids {
        assert_eq!(home.ended(&id)["status"], "completed");
    }
}

#[test]
fn a_queued_task_has_the_environment_and_directory_of_its_start() {
    let home = limited(1);
    let _first = home.start(&children::gated("go", 0));
    let inner = home.work().join("inner");
    fs::create_dir(&inner).unwrap();
    let outcome =
        home.command(["start", "--json", "echo \"$WORD\" > seen"]).env("WORD", "mine").cwd(&inner).run();
    assert_eq!(outcome.exits(0).json()["status"], "pending");
    home.open("go");
    wait_until(SOON, "the second task has run", || {
        (fs::read_to_string(inner.join("seen")).ok()? == "mine\n").then_some(())
    });
}
