//! `mw kill -s`: signals that do not ask for an end are sent without escalation.

use std::time::Duration;

use mw_testkit::contract::{RECEIPT_FIELDS, has_fields};
use mw_testkit::processes::stat;
use mw_testkit::{SOON, alive, wait_until};
use serde_json::{Value, json};

use crate::home;

/// Counts received signals, and ends on SIGTERM.
const SERVER: &str = "n=0; trap 'n=$((n+1)); echo hup $n' HUP; trap 'echo usr' USR1; trap 'echo quit' QUIT
    echo ready; while :; do sleep 0.02; done";

fn signals(receipt: &Value) -> Vec<&str> {
    let sent = receipt["signals"].as_array().unwrap();
    sent.iter().map(|one| one["signal"].as_str().unwrap()).collect()
}

#[test]
fn a_handled_signal_is_sent_without_escalation() {
    // A grace period so short that a SIGKILL would come before the next command.
    let home = home().with_env("MEANWHILE_KILL_GRACE_MS", "1");
    let id = home.start(SERVER);
    home.until_logged(&id, "ready");
    let pid = home.pid(&id);
    for (name, full, answer) in
        [("HUP", "SIGHUP", "hup 1"), ("USR1", "SIGUSR1", "usr"), ("QUIT", "SIGQUIT", "quit")]
    {
        let receipt = home.mw(["kill", "--json", "-s", name, &id]).exits(0).json();
        has_fields(&receipt, &RECEIPT_FIELDS);
        assert_eq!(signals(&receipt), [full], "{receipt}");
        assert_eq!(receipt["status"], "running", "{receipt}");
        assert_eq!((&receipt["killed"], &receipt["survivors"]), (&json!([]), &json!([])), "{receipt}");
        home.until_logged(&id, answer);
    }
    let text = home.mw(["kill", "-s", "HUP", &id]).ok();
    assert!(text.contains("running") && text.contains("SIGHUP sent"), "{text}");
    home.until_logged(&id, "hup 2");
    let task = home.status(&id);
    assert_eq!((&task["status"], &task["cause"]), (&json!("running"), &json!(null)), "{task}");
    assert!(alive(pid), "{task}");
    let _ = home.mw(["kill", "-s", "KILL", &id]).ok();
}

#[test]
fn a_task_ended_by_a_signal_without_a_grace_period_has_failed() {
    let home = home();
    let id = home.start("exec sleep 600");
    let _ = home.mw(["kill", "-s", "HUP", &id]).ok();
    let task = home.ended(&id);
    assert_eq!((&task["status"], &task["signal"]), (&json!("failed"), &json!("SIGHUP")), "{task}");
}

#[test]
fn any_signal_with_a_grace_period_escalates_to_sigkill() {
    let home = home();
    let id = home.start(SERVER);
    home.until_logged(&id, "ready");
    let receipt = home.mw(["kill", "--json", "-s", "HUP", "--grace", "200ms", &id]).exits(0).json();
    assert_eq!(signals(&receipt), ["SIGHUP", "SIGKILL"], "{receipt}");
    assert_eq!(home.status(&id)["status"], "cancelled");
}

#[test]
fn a_task_can_be_stopped_and_continued() {
    // Long enough that it is stopped before it counts as stalled, also on a busy machine.
    let home = home().with_env("MEANWHILE_STALL_MS", "3000");
    let id = home.start("printf 'Password: '; while [ ! -e go ]; do sleep 0.02; done; echo done");
    home.until_logged(&id, "Password");
    let pid = home.pid(&id);
    let receipt = home.mw(["kill", "--json", "-s", "STOP", &id]).exits(0).json();
    assert_eq!((signals(&receipt), &receipt["status"]), (vec!["SIGSTOP"], &json!("running")), "{receipt}");
    // A shell whose child was stopped between vfork and exec waits for it in the kernel.
    let is_stopped = || stat(pid).is_some_and(|stat| matches!(stat.state, 'T' | 'D'));
    wait_until(SOON, "the task is stopped", || is_stopped().then_some(()));
    home.open("go");
    // It neither ends nor is reported as stalled, and another signal does not continue it.
    let _ = home.mw(["kill", "-s", "WINCH", &id]).ok();
    let _ = home.mw(["wait", &id, "--timeout", "4s"]).exits(124);
    assert!(is_stopped());
    assert_eq!(home.status(&id)["status"], "running");
    let journal = std::fs::read_to_string(home.task_dir(&id).join("journal.jsonl")).unwrap();
    assert!(!journal.contains("stalled"), "{journal}");
    let _ = home.mw(["kill", "-s", "CONT", &id]).ok();
    let task = home.ended_within(&id, Duration::from_secs(20));
    assert_eq!(task["status"], "completed", "{task}");
}

#[test]
fn a_queued_task_cannot_be_signalled_and_stays_queued() {
    let home = home().with_env("MEANWHILE_QUEUE_MAX_RUNNING", "1");
    let first = home.start("exec sleep 600");
    let second = home.start("exec sleep 600");
    let refusal = home.mw(["kill", "--json", "-s", "HUP", &second]).refusal(6).to_string();
    assert!(refusal.contains("has not started") && refusal.contains("SIGHUP"), "{refusal}");
    assert_eq!(home.status(&second)["status"], "pending");
    assert_eq!(home.status(&first)["status"], "running");
}

#[test]
fn a_signal_to_an_ended_task_is_not_sent() {
    let home = home();
    let id = home.start("true");
    home.ended(&id);
    let receipt = home.mw(["kill", "--json", "-s", "HUP", &id]).exits(0).json();
    assert_eq!((signals(&receipt), &receipt["status"]), (vec![], &json!("completed")), "{receipt}");
}
