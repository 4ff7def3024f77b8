//! Time limits, and the detection of stalled prompts.

use mw_testkit::contract::is_signal;
use mw_testkit::{Home, SOON, children, wait_until};
use serde_json::Value;

use crate::home;

#[test]
fn a_task_that_exceeds_its_time_limit_times_out() {
    let home = home().with_env("MEANWHILE_KILL_TIMEOUT_GRACE_MS", "60000");
    let script = format!("{}\nexec sleep 600", children::leave_setsid("kid"));
    let id = home.start_with(&["--timeout", "400ms"], &script);
    let task = home.ended(&id);
    assert_eq!(task["status"], "timed_out", "{task}");
    assert!(is_signal(&task["signal"], 15), "{task}");
    assert_eq!(task["cause"], "time limit of 0.4 s reached (SIGTERM)", "{task}");
    assert!(task["duration_ms"].as_u64().unwrap() >= 400, "{task}");
    home.wait_until_empty(SOON);
}

/// Runs a script under a limit until one run printed `ready` before the limit; returns that task.
fn struck_when_ready(home: &Home, script: &str) -> Value {
    wait_until(SOON, "the task is ready before its limit", || {
        let id = home.start_with(&["--timeout", "400ms"], script);
        let task = home.ended(&id);
        home.log(&id).starts_with(b"ready\n").then_some(task)
    })
}

#[test]
fn a_timed_out_task_that_ignores_sigterm_is_killed_after_the_timeout_grace_period() {
    let task = struck_when_ready(&home(), children::STUBBORN);
    assert_eq!(task["status"], "timed_out", "{task}");
    assert!(is_signal(&task["signal"], 9), "{task}");
    let duration = task["duration_ms"].as_u64().unwrap();
    assert!(duration >= 3400, "only {duration} ms of grace");
}

#[test]
fn a_task_that_exits_after_its_time_limit_is_still_timed_out() {
    let home = home().with_env("MEANWHILE_KILL_TIMEOUT_GRACE_MS", "60000");
    let task = struck_when_ready(&home, "trap 'exit 0' TERM; echo ready; while :; do sleep 0.05; done");
    assert_eq!((&task["status"], &task["exit_code"]), (&"timed_out".into(), &0.into()), "{task}");
}

#[test]
fn a_task_within_its_time_limit_is_not_killed() {
    let home = home();
    let task = home.ended(&home.start_with(&["--timeout", "1h", "--deadline", "2h"], "exit 3"));
    assert_eq!((&task["status"], &task["exit_code"]), (&"failed".into(), &3.into()), "{task}");
    assert!(task["deadline"].as_str().unwrap().ends_with('Z'), "{task}");
}

#[test]
fn a_deadline_ends_a_running_task() {
    let home = home();
    let task = home.ended(&home.start_with(&["--deadline", "400ms"], children::SLEEPER));
    assert_eq!(task["status"], "timed_out", "{task}");
}

#[test]
fn a_deadline_ends_a_pending_task_that_never_ran() {
    let home = home().with_env("MEANWHILE_QUEUE_MAX_RUNNING", "1");
    let _first = home.start(children::SLEEPER);
    let second = home.start_with(&["--deadline", "300ms"], "touch ran");
    let task = home.ended(&second);
    assert_eq!(task["status"], "timed_out", "{task}");
    assert!(task["pid"].is_null() && task["started_at"].is_null(), "{task}");
    assert!(!home.has_file("ran"));
}

#[test]
fn a_run_limit_does_not_count_time_in_the_queue() {
    let home = home().with_env("MEANWHILE_QUEUE_MAX_RUNNING", "1");
    let first = home.start_with(&["--timeout", "700ms"], children::SLEEPER);
    let second = home.start_with(&["--timeout", "600ms"], children::SLEEPER);
    assert_eq!(home.ended(&first)["status"], "timed_out");
    let task = home.ended(&second);
    assert_eq!(task["status"], "timed_out", "{task}");
    assert!(task["duration_ms"].as_u64().unwrap() >= 600, "{task}");
}

/// Returns the stall events so far.
fn stalls(home: &Home) -> Vec<Value> {
    let mut events = home.mw(["watch", "--no-follow"]).exits(0).json_lines();
    events.retain(|event| event["event"] == "stalled");
    events
}

fn stall_home() -> Home {
    home().with_env("MEANWHILE_STALL_MS", "300")
}

#[test]
fn silence_after_a_prompt_is_reported_as_a_stall() {
    let home = stall_home();
    let id = home.start("printf 'Overwrite it? (y/n) '; exec sleep 600");
    let found = wait_until(SOON, "a stall is reported", || stalls(&home).pop());
    assert_eq!(found["task"], id.as_str(), "{found}");
    assert!(found.to_string().contains("(y/n)"), "{found}");
    assert_eq!(home.status(&id)["status"], "running");
}

#[test]
fn silence_without_a_prompt_is_no_stall() {
    let home = stall_home();
    let quiet = home.start("echo compiling; exec sleep 600");
    // A later task that does stall shows that the time for the first has passed.
    home.until_logged(&quiet, "compiling");
    let asking = home.start("printf 'Password: '; exec sleep 600");
    let found = wait_until(SOON, "a stall is reported", || stalls(&home).pop());
    assert_eq!(found["task"], asking.as_str(), "{found}");
    assert_eq!(stalls(&home).len(), 1);
}

#[test]
fn a_prompt_is_reported_as_a_stall_once() {
    let home = stall_home();
    let first = home.start("printf 'Continue? (y/n) '; exec sleep 600");
    wait_until(SOON, "a stall is reported", || stalls(&home).pop());
    let second = home.start("printf 'Continue? (y/n) '; exec sleep 600");
    wait_until(SOON, "another stall is reported", || {
        stalls(&home).into_iter().find(|event| event["task"] == second.as_str())
    });
    let of_first = stalls(&home).iter().filter(|event| event["task"] == first.as_str()).count();
    assert_eq!(of_first, 1);
}

#[test]
fn the_next_prompt_is_reported_as_a_new_stall() {
    let home = stall_home();
    let ask = "printf 'Sure? (y/n) '; read answer;";
    let id = home.start_with(&["--stdin"], &format!("{ask} {ask} exit 0"));
    wait_until(SOON, "the first stall is reported", || (stalls(&home).len() == 1).then_some(()));
    let _ = home.mw(["input", &id, "y"]).ok();
    wait_until(SOON, "the second stall is reported", || (stalls(&home).len() == 2).then_some(()));
    let _ = home.mw(["input", &id, "y"]).ok();
    assert_eq!(home.ended(&id)["exit_code"], 0);
}

#[test]
fn a_task_that_keeps_printing_does_not_stall() {
    // On a busy machine a task that keeps printing may still be silent for longer than the limit; then a stall
    // is correct, and the test tries again.
    wait_until(SOON, "a run in which the task was never silent", || {
        let home = home().with_env("MEANWHILE_STALL_MS", "1000");
        let busy = "while [ ! -e go ]; do echo 'again? (y/n)'; sleep 0.05; done; exit 0";
        let id = home.start(busy);
        let asking = home.start("printf 'Password: '; exec sleep 600");
        wait_until(SOON, "the stall of the silent task is reported", || {
            stalls(&home).into_iter().find(|event| event["task"] == asking.as_str())
        });
        home.open("go");
        home.ended(&id);
        stalls(&home).iter().all(|event| event["task"] == asking.as_str()).then_some(())
    });
}
