//! Tasks with dependencies (`--after`).

use mw_testkit::children;
use serde_json::json;

use crate::home;

#[test]
fn a_task_starts_after_its_dependency_completed() {
    let home = home();
    let first = home.start(&children::gated("go", 0));
    let second = home.start_with(&["--after", &first], "touch second");
    assert_eq!(home.status(&second)["status"], "pending");
    assert!(!home.has_file("second"));
    home.open("go");
    home.file("second");
    assert_eq!(home.ended(&second)["status"], "completed");
}

#[test]
fn a_task_is_skipped_when_its_dependency_failed() {
    let home = home();
    let first = home.start(&children::gated("go", 3));
    let second = home.start_with(&["--after", &first], "touch second");
    home.open("go");
    let task = home.ended(&second);
    assert_eq!(task["status"], "cancelled", "{task}");
    let cause = task["cause"].to_string();
    assert!(cause.contains("skipped"), "{task}");
    assert!(cause.contains(&first), "the reason names the task: {task}");
    assert!(!home.has_file("second"));
}

#[test]
fn a_task_is_skipped_when_its_dependency_was_killed() {
    let home = home();
    let first = home.start(children::SLEEPER);
    let second = home.start_with(&["--after", &first], "touch second");
    let _ = home.mw(["kill", &first]).ok();
    let task = home.ended(&second);
    assert_eq!(task["status"], "cancelled", "{task}");
    assert!(task["cause"].to_string().contains("skipped"), "{task}");
}

#[test]
fn a_task_after_any_end_starts_however_the_other_ended() {
    for (end, script) in [("exit 0", "0"), ("exit 3", "3"), ("kill -9 $$", "9")] {
        let home = home();
        let first = home.start(&format!("{}; {end}", children::gate("go")));
        let second = home.start_with(&["--after-any", &first], "touch second");
        assert_eq!(home.status(&second)["after"][0]["end"], "any");
        home.open("go");
        assert_eq!(home.ended(&second)["status"], "completed", "{script}");
        assert!(home.has_file("second"));
    }
}

#[test]
fn a_task_after_a_failure_starts_only_then() {
    for (end, status) in [("exit 0", "cancelled"), ("exit 3", "completed")] {
        let home = home();
        let first = home.start_with(&["--name", "deploy"], &format!("{}; {end}", children::gate("go")));
        let second = home.start_with(&["--after-failure", "deploy"], "touch rolled-back");
        home.open("go");
        let task = home.ended(&second);
        assert_eq!(task["status"], status, "{end}: {task}");
        assert_eq!(home.has_file("rolled-back"), end != "exit 0");
        if end == "exit 0" {
            let cause = task["cause"].as_str().unwrap();
            assert!(
                cause.contains("deploy") && cause.contains(&first) && cause.contains("completed"),
                "{task}"
            );
        }
    }
}

#[test]
fn a_killed_task_counts_as_a_failure_and_may_be_cleared() {
    let home = home().with_env("MEANWHILE_QUEUE_MAX_RUNNING", "1");
    let first = home.start(children::SLEEPER);
    let second = home.start(&children::gated("go", 0));
    let third = home.start_with(&["--after-failure", &first], "touch third");
    let fourth = home.start_with(&["--after", &first], "touch fourth");
    home.mw(["kill", &first]).ok();
    home.mw(["notices", "--session", "default"]).ok();
    home.mw(["clear", &first]).ok();
    home.open("go");
    home.ended(&second);
    assert_eq!(home.ended(&third)["status"], "completed");
    assert_eq!(home.ended(&fourth)["status"], "cancelled");
    assert!(home.has_file("third") && !home.has_file("fourth"));
}

#[test]
fn a_whole_chain_of_dependents_is_skipped() {
    let home = home();
    let first = home.start(&children::gated("go", 1));
    let second = home.start_with(&["--after", &first], "touch second");
    let third = home.start_with(&["--after", &second], "touch third");
    home.open("go");
    for id in [&second, &third] {
        let task = home.ended(id);
        assert!(task["cause"].to_string().contains("skipped"), "{task}");
    }
    assert!(!home.has_file("third"));
}

#[test]
fn a_task_can_have_several_dependencies() {
    let home = home();
    let (one, two) = (home.start(&children::gated("a", 0)), home.start(&children::gated("b", 0)));
    let last = home.start_with(&["--after", &one, "--after", &two], "touch last");
    home.open("a");
    home.ended(&one);
    assert_eq!(home.status(&last)["status"], "pending");
    home.open("b");
    home.file("last");
}

#[test]
fn a_task_after_a_completed_dependency_starts_at_once() {
    let home = home();
    let first = home.start("true");
    home.ended(&first);
    let second = home.start_with(&["--after", &first], "exit 4");
    assert_eq!(home.ended(&second)["exit_code"], 4);
}

#[test]
fn a_task_that_waits_for_a_dependency_holds_no_slot() {
    let home = home().with_env("MEANWHILE_QUEUE_MAX_RUNNING", "2");
    let first = home.start(children::SLEEPER);
    let waiting = home.start_with(&["--after", &first, "--priority", "9"], "true");
    let third = home.start(&children::gated("go", 0));
    assert_eq!(home.status(&third)["status"], "running");
    assert_eq!(home.status(&waiting)["status"], "pending");
}

#[test]
fn an_unknown_dependency_is_refused() {
    let home = home();
    let _ = home.mw(["start", "--json", "--after", "bash-zzzzzzzz", "true"]).refusal(5);
    assert_eq!(home.list().len(), 0);
}

#[test]
fn a_dependency_can_be_given_by_name_or_handle() {
    let home = home();
    let first = home.start_with(&["--name", "build"], &children::gated("go", 0));
    let seconds = ["build", "bash_1"].map(|word| home.start_with(&["--after", word], "true"));
    for second in &seconds {
        let task = home.status(second);
        assert_eq!((&task["status"], &task["after"]), (&"pending".into(), &json!([first])), "{task}");
    }
    home.open("go");
    for second in &seconds {
        assert_eq!(home.ended(second)["status"], "completed");
    }
}

#[test]
fn a_task_after_a_failed_dependency_is_skipped_and_not_reported_as_started() {
    let home = home();
    let first = home.start("exit 3");
    home.ended(&first);
    let said = home.mw(["start", "--after", &first, "touch second"]).exits(0).text();
    assert!(said.contains("did not start: skipped") && said.contains(&first), "{said}");
    assert!(said.contains("mw restart"), "it says what to do: {said}");
    assert!(!said.contains("pid"), "{said}");
    let answer = home.mw(["start", "--json", "--after", &first, "touch second"]).exits(0).json();
    assert_eq!(answer["status"], "cancelled", "{answer}");
    assert!(answer["cause"].to_string().contains("skipped"), "{answer}");
    let second = answer["id"].as_str().unwrap();
    let again = home.mw(["restart", "--json", second]).exits(0).json();
    assert!(again["cause"].to_string().contains("skipped"), "{again}");
    assert_eq!(home.mw(["wait", second]).code, Some(1), "a wait for a skipped task fails");
    assert!(!home.has_file("second"));
}

#[test]
fn a_restart_ignores_a_cleared_dependency() {
    let home = home();
    let first = home.start("true");
    home.ended(&first);
    let second = home.start_with(&["--after", &first], "true");
    home.ended(&second);
    let _ = home.mw(["clear", &first]).ok();
    let _ = home.mw(["restart", &second]).ok();
    let task = home.ended(&second);
    assert_eq!((&task["runs"], &task["status"]), (&2.into(), &"completed".into()), "{task}");
}

#[test]
fn a_queued_task_runs_although_its_completed_dependency_was_cleared() {
    let home = home().with_env("MEANWHILE_QUEUE_MAX_RUNNING", "1");
    let first = home.start("true");
    home.ended(&first);
    let busy = home.start(&children::gated("go", 0));
    let second = home.start_with(&["--after", &first], "touch second");
    assert_eq!(home.status(&second)["status"], "pending");
    let _ = home.mw(["clear", "--finished"]).ok();
    assert_eq!(home.status(&second)["status"], "pending");
    home.delete_database();
    assert_eq!(home.status(&second)["status"], "pending", "it stays queued in a rebuilt database");
    home.open("go");
    home.ended(&busy);
    let task = home.ended(&second);
    assert_eq!(task["status"], "completed", "{task}");
    assert!(home.has_file("second"));
}
