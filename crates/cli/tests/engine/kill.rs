//! `mw kill`: the whole tree, with a receipt.

use mw_testkit::contract::{RECEIPT_FIELDS, has_fields, is_signal, pids};
use mw_testkit::{Home, SOON, alive, children, wait_until};
use serde_json::Value;

use crate::home;

/// Creates a home with a long grace period, so that only the first signal is sent.
fn patient() -> Home {
    home().with_env("MEANWHILE_KILL_GRACE_MS", "60000")
}

/// Returns the names of the signals in a receipt, in order.
fn signals(receipt: &Value) -> Vec<&str> {
    let sent = receipt["signals"].as_array().unwrap();
    sent.iter().map(|one| one["signal"].as_str().unwrap()).collect()
}

#[test]
fn kill_gives_a_receipt() {
    let home = patient();
    let id = home.start(children::SLEEPER);
    let pid = home.pid(&id);
    let receipt = home.mw(["kill", "--json", &id]).exits(0).json();
    has_fields(&receipt, &RECEIPT_FIELDS);
    assert_eq!(receipt["id"], id.as_str(), "{receipt}");
    assert_eq!(receipt["status"], "cancelled", "{receipt}");
    assert!(!receipt["requested_by"].as_str().unwrap().is_empty(), "{receipt}");
    assert_eq!(signals(&receipt), ["SIGTERM"], "{receipt}");
    assert!(receipt["signals"][0]["at"].as_str().unwrap().ends_with('Z'), "{receipt}");
    assert!(pids(&receipt["killed"]).contains(&u64::from(pid)), "{receipt}");
    assert_eq!(receipt["survivors"], serde_json::json!([]), "{receipt}");
    assert!(receipt["duration_ms"].is_u64(), "{receipt}");
}

#[test]
fn kill_returns_when_all_processes_are_dead() {
    let home = patient();
    let id = home.start(children::SLEEPER);
    let pid = home.pid(&id);
    let _ = home.mw(["kill", &id]).ok();
    assert!(!alive(pid));
    let task = home.status(&id);
    assert_eq!(task["status"], "cancelled", "{task}");
    assert!(is_signal(&task["signal"], 15), "{task}");
    assert!(task["exit_code"].is_null(), "{task}");
}

#[test]
fn kill_ends_children_in_separate_sessions() {
    let home = home();
    let id = home.start(&format!("{}\nwait; exec sleep 600", children::leave_setsid("kid")));
    let kid = home.pid_in("kid");
    let receipt = home.mw(["kill", "--json", &id]).exits(0).json();
    assert!(!alive(kid), "{receipt}");
    assert!(pids(&receipt["killed"]).contains(&u64::from(kid)), "{receipt}");
}

#[test]
fn kill_ends_orphaned_children() {
    let home = home();
    let id = home.start(&format!("{}\nexec sleep 600", children::leave_double_fork("kid")));
    let kid = home.pid_in("kid");
    let receipt = home.mw(["kill", "--json", &id]).exits(0).json();
    assert!(!alive(kid), "{receipt}");
    assert!(pids(&receipt["killed"]).contains(&u64::from(kid)), "{receipt}");
}

#[test]
fn kill_ends_orphaned_children_that_name_no_other_task() {
    for name in ["", "..", ".", "bash-aaaaaaaa"] {
        let home = home();
        let orphan = children::leave_double_fork("kid");
        let id = home.start(&format!("(export MEANWHILE_TASK_ID={name}; {orphan})\nexec sleep 600"));
        let kid = home.pid_in("kid");
        let receipt = home.mw(["kill", "--json", &id]).exits(0).json();
        assert!(!alive(kid), "{name:?}: {receipt}");
    }
}

#[test]
fn a_child_that_ignores_sigterm_is_killed_after_the_grace_period() {
    let home = home();
    let id = home.start(children::STUBBORN);
    home.until_logged(&id, "ready");
    let receipt = home.mw(["kill", "--json", &id, "--grace", "200ms"]).exits(0).json();
    assert_eq!(signals(&receipt), ["SIGTERM", "SIGKILL"], "{receipt}");
    assert!(receipt["duration_ms"].as_u64().unwrap() >= 200, "{receipt}");
    let task = home.status(&id);
    assert_eq!(task["status"], "cancelled", "{task}");
    assert!(is_signal(&task["signal"], 9), "{task}");
    home.wait_until_empty(SOON);
}

#[test]
fn a_child_that_ignores_sigterm_is_killed_after_its_parent_ended() {
    let home = home();
    let kid = "setsid sh -c 'trap \"\" TERM; echo $$ > kid; while :; do sleep 0.1; done' >/dev/null 2>&1 &";
    let id = home.start(&format!("{kid}\nexec sleep 600"));
    let kid = home.pid_in("kid");
    let receipt = home.mw(["kill", "--json", &id, "--grace", "200ms"]).exits(0).json();
    assert!(!alive(kid), "{receipt}");
    assert_eq!(signals(&receipt), ["SIGTERM", "SIGKILL"], "{receipt}");
}

#[test]
fn a_child_that_handles_sigterm_gets_the_grace_period() {
    let home = patient();
    let script = "trap 'sleep 0.3; echo tidied; exit 0' TERM; echo ready; while :; do sleep 0.05; done";
    let id = home.start(script);
    home.until_logged(&id, "ready");
    let receipt = home.mw(["kill", "--json", &id]).exits(0).json();
    assert_eq!(signals(&receipt), ["SIGTERM"], "{receipt}");
    assert!(home.log(&id).ends_with(b"tidied\n"));
}

#[test]
fn a_killed_task_that_exits_with_0_is_still_cancelled() {
    let home = patient();
    let id = home.start("trap 'exit 0' TERM; echo ready; while :; do sleep 0.05; done");
    home.until_logged(&id, "ready");
    let _ = home.mw(["kill", &id]).ok();
    let task = home.status(&id);
    assert_eq!((&task["status"], &task["exit_code"]), (&"cancelled".into(), &0.into()), "{task}");
}

#[test]
fn another_signal_can_be_sent() {
    let home = patient();
    for name in ["INT", "SIGINT", "2"] {
        let id = home.start("trap 'echo got it; exit 3' INT; echo ready; while :; do sleep 0.05; done");
        home.until_logged(&id, "ready");
        let receipt = home.mw(["kill", "--json", &id, "--signal", name]).exits(0).json();
        assert_eq!(signals(&receipt), ["SIGINT"], "{receipt}");
        assert!(home.log(&id).ends_with(b"got it\n"));
    }
}

#[test]
fn a_kill_with_sigkill_sends_one_signal() {
    let home = home();
    let id = home.start(children::STUBBORN);
    let receipt = home.mw(["kill", "--json", &id, "--signal", "KILL"]).exits(0).json();
    assert_eq!(signals(&receipt), ["SIGKILL"], "{receipt}");
}

#[test]
fn killing_an_ended_task_is_no_error_and_changes_nothing() {
    let home = home();
    let id = home.start("exit 4");
    let before = home.ended(&id);
    for _ in 0..2 {
        let receipt = home.mw(["kill", "--json", &id]).exits(0).json();
        has_fields(&receipt, &RECEIPT_FIELDS);
        assert_eq!(receipt["status"], "failed", "{receipt}");
        assert_eq!((&receipt["killed"], &receipt["signals"]), (&Value::Array(vec![]), &Value::Array(vec![])));
    }
    let after = home.status(&id);
    assert_eq!((&after["status"], &after["exit_code"]), (&before["status"], &before["exit_code"]));
    assert_eq!(after["ended_at"], before["ended_at"]);
}

#[test]
fn two_concurrent_kills_both_succeed() {
    let home = home();
    let id = home.start(children::STUBBORN);
    home.until_logged(&id, "ready");
    let args = ["kill", "--json", &id, "--grace", "300ms"];
    let both = [home.command(args).spawn(), home.command(args).spawn()];
    for one in both {
        let receipt = one.wait().exits(0).json();
        assert_eq!(receipt["status"], "cancelled", "{receipt}");
    }
}

#[test]
fn a_second_kill_can_use_a_stronger_signal() {
    let home = home();
    let id = home.start(children::STUBBORN);
    home.until_logged(&id, "ready");
    let patient = home.command(["kill", &id, "--grace", "10m"]).spawn();
    home.until_status(&id, "cancelling");
    let _ = home.mw(["kill", &id, "--signal", "KILL"]).ok();
    let _ = patient.wait().ok();
    assert_eq!(home.status(&id)["status"], "cancelled");
}

#[test]
fn every_killed_task_has_a_receipt() {
    let home = home();
    let ids = [home.start(children::SLEEPER), home.start(children::SLEEPER)];
    let answer = home.mw(["kill", "--json", &ids[0], &ids[1]]).exits(0).json();
    let receipts = answer["receipts"].as_array().unwrap();
    assert_eq!(receipts.len(), 2, "{answer}");
    for (receipt, id) in receipts.iter().zip(&ids) {
        has_fields(receipt, &RECEIPT_FIELDS);
        assert_eq!(receipt["id"], id.as_str(), "{answer}");
    }
}

#[test]
fn a_batch_can_be_killed() {
    let home = home();
    let inside = home.start_with(&["--batch", "b1"], children::SLEEPER);
    let outside = home.start(children::SLEEPER);
    let answer = home.mw(["kill", "--json", "--batch", "b1"]).exits(0).json();
    assert_eq!(answer["receipts"].as_array().map(Vec::len), Some(1), "{answer}");
    assert_eq!(home.status(&inside)["status"], "cancelled");
    assert_eq!(home.status(&outside)["status"], "running");
}

#[test]
fn all_tasks_can_be_killed() {
    let home = home().with_env("MEANWHILE_QUEUE_MAX_RUNNING", "2");
    let ids = [(); 3].map(|()| home.start(children::SLEEPER));
    let answer = home.mw(["kill", "--json", "--all"]).exits(0).json();
    assert_eq!(answer["receipts"].as_array().map(Vec::len), Some(3), "{answer}");
    for id in &ids {
        assert_eq!(home.status(id)["status"], "cancelled");
    }
    home.wait_until_empty(SOON);
}

#[test]
fn an_unknown_signal_is_refused_and_nothing_is_killed() {
    let home = home();
    let id = home.start(children::SLEEPER);
    let _ = home.mw(["kill", "--json", &id, "--signal", "BOGUS"]).refusal(2);
    assert_eq!(home.status(&id)["status"], "running");
}

#[test]
fn two_hundred_children_die_with_their_parent() {
    let home = home();
    let id = home.start(&children::fork_many(200, "all"));
    let _ = home.pid_in("all");
    let receipt = home.mw(["kill", "--json", &id]).exits(0).json();
    assert!(pids(&receipt["killed"]).len() >= 201, "{receipt}");
    assert_eq!(receipt["survivors"], serde_json::json!([]), "{receipt}");
    home.wait_until_empty(SOON);
}

#[test]
fn a_tree_that_forks_while_it_is_killed_dies_completely() {
    let home = home();
    let id = home.start(&children::doubling(6));
    wait_until(SOON, "the tree has grown", || (home.tagged().len() > 20).then_some(()));
    let receipt = home.mw(["kill", "--json", &id, "--grace", "300ms"]).exits(0).json();
    assert_eq!(receipt["survivors"], serde_json::json!([]), "{receipt}");
    home.wait_until_empty(SOON);
}

#[test]
fn a_stopped_task_can_be_killed() {
    let home = home();
    let id = home.start("kill -STOP $$; exec sleep 600");
    let pid = home.pid(&id);
    wait_until(SOON, "the task is stopped", || {
        mw_testkit::processes::stat(pid).filter(|stat| stat.state == 'T')
    });
    let _ = home.mw(["kill", &id, "--grace", "200ms"]).ok();
    assert!(!alive(pid));
    assert_eq!(home.status(&id)["status"], "cancelled");
}

#[test]
fn the_receipt_as_text_names_the_task_and_the_signal() {
    let home = home();
    let id = home.start(children::SLEEPER);
    let text = home.mw(["kill", &id]).ok();
    assert!(text.contains(&id) && text.contains("SIGTERM"), "{text}");
}

#[test]
fn a_batch_that_does_not_exist_is_not_found() {
    let home = home();
    let id = home.start_with(&["--batch", "b"], "true");
    home.ended(&id);
    for command in ["kill", "wait", "output"] {
        let refusal = home.mw([command, "--json", "--batch", "nope"]).refusal(5).to_string();
        assert!(refusal.contains("batch") && refusal.contains("nope"), "{command}: {refusal}");
    }
    let _ = home.mw(["kill", "--batch", "b"]).ok();
}
