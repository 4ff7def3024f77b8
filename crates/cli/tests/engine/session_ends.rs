//! `mw session`: tasks end with their session; detached ones continue.

use mw_testkit::{Home, Running, SOON, alive, children, wait_until};
use serde_json::Value;

use crate::home;

fn start(home: &Home, session: &str, more: &[&str], script: &str) -> String {
    let args = [&["start", "--json"][..], more, &[script]].concat();
    home.command(args).session(session).run().json()["id"].as_str().unwrap().to_owned()
}

/// Starts a host that can be killed: its program does not hold its streams open.
fn hosted(home: &Home) -> Running {
    let quiet = "exec sleep 600 >/dev/null 2>&1";
    home.command(["session", "run", "s", "--", "sh", "-c", quiet]).spawn()
}

fn sessions(home: &Home) -> Vec<Value> {
    home.mw(["session", "list", "--json"]).json()["sessions"].as_array().unwrap().clone()
}

#[test]
fn ending_a_session_ends_its_tasks_but_not_detached_or_foreign_ones() {
    let home = home().with_env("MEANWHILE_QUEUE_MAX_RUNNING", "3");
    let stubborn = start(&home, "s", &[], "trap 'echo asked' TERM; echo ready; while :; do sleep 0.05; done");
    home.until_logged(&stubborn, "ready");
    let detached = start(&home, "s", &["--lifetime", "detached"], "sleep 600");
    let running = start(&home, "s", &[], "sleep 600");
    let waiting = start(&home, "s", &[], "sleep 600");
    let foreign = start(&home, "other", &[], "sleep 600");
    let ended = home.mw(["session", "end", "s", "--json"]).json();
    assert_eq!(ended["receipts"].as_array().unwrap().len(), 3, "{ended}");
    for id in [&stubborn, &running, &waiting] {
        assert_eq!(home.status(id)["status"], "cancelled", "{id}");
    }
    // All output is stored when the session has ended.
    let log = std::fs::read_to_string(home.task_dir(&stubborn).join("output.log")).unwrap();
    assert!(log.starts_with("ready\n") && log.contains("asked\n"), "{log:?}");
    for id in [&detached, &foreign] {
        assert_eq!(home.status(id)["status"], "running", "{id}");
        home.mw(["kill", id]).ok();
    }
}

#[test]
fn a_hosted_program_passes_its_exit_code_and_its_tasks_end() {
    let home = home();
    let script = format!("{} start --json 'sleep 600' > started; exit 7", env!("CARGO_BIN_EXE_mw"));
    let run = home.command(["session", "run", "s", "--", "sh", "-c", &script]).run();
    assert_eq!(run.code, Some(7), "{run}");
    let started = std::fs::read_to_string(home.work().join("started")).unwrap();
    let id = serde_json::from_str::<Value>(&started).unwrap()["id"].as_str().unwrap().to_owned();
    let task = home.status(&id);
    assert_eq!((&task["status"], &task["session"]), (&"cancelled".into(), &"s".into()), "{task}");
    assert!(task["cause"].as_str().unwrap().contains("the end of its session"), "{task}");
}

#[test]
fn tasks_of_a_killed_host_end_after_the_grace_period() {
    let home = home().with_env("MEANWHILE_SESSION_GRACE_MS", "50");
    let id = start(&home, "s", &[], "sleep 600");
    let detached = start(&home, "s", &["--lifetime", "detached"], "sleep 600");
    home.until_status(&id, "running");
    let host = hosted(&home);
    let journal = home.task_dir(&id).join("journal.jsonl");
    wait_until(SOON, "the supervisor has seen the host", || {
        std::fs::read_to_string(&journal).ok()?.contains("hosted").then_some(())
    });
    assert_eq!(sessions(&home)[0]["hosts"], 1);
    let pid = home.pid(&id);
    let _ = host.kill();
    wait_until(SOON, "the task ends with its session", || (!alive(pid)).then_some(()));
    assert_eq!(home.ended(&id)["status"], "cancelled");
    assert_eq!(home.status(&detached)["status"], "running");
    home.mw(["kill", &detached]).ok();
}

#[test]
fn queued_tasks_of_a_killed_host_end_without_starting() {
    let home =
        home().with_env("MEANWHILE_SESSION_GRACE_MS", "50").with_env("MEANWHILE_QUEUE_MAX_RUNNING", "2");
    let host = hosted(&home);
    wait_until(SOON, "the host holds the session", || {
        let mut found = std::fs::read_dir(home.state().join("sessions/s")).ok()?.flatten();
        found.any(|entry| entry.file_name().to_string_lossy().starts_with("host-")).then_some(())
    });
    let ids: Vec<_> = (0..5).map(|_| start(&home, "s", &[], "sleep 600")).collect();
    let detached = start(&home, "s", &["--lifetime", "detached"], "sleep 600");
    let _ = host.kill();
    for id in &ids {
        let task = home.ended(id);
        assert_eq!(task["status"], "cancelled", "{task}");
        assert!(task["cause"].as_str().unwrap().contains("the end of its session"), "{task}");
    }
    assert!(ids[2..].iter().all(|id| home.status(id)["started_at"].is_null()), "none of them ran");
    home.until_status(&detached, "running");
    // A restart by the user outside the session does not end with the session.
    let again = home.mw(["restart", &ids[4], "--json"]).json();
    assert_eq!(again["status"], "running", "{again}");
    for id in [&ids[4], &detached] {
        home.mw(["kill", id]).ok();
    }
}

#[test]
fn a_session_that_gets_a_new_host_in_time_continues() {
    let home = home().with_env("MEANWHILE_SESSION_GRACE_MS", "600000");
    let id = start(&home, "s", &[], &children::gated("go", 5));
    home.until_status(&id, "running");
    let first = hosted(&home);
    wait_until(SOON, "the host is seen", || (sessions(&home)[0]["hosts"] == 1).then_some(()));
    let _ = first.kill();
    wait_until(SOON, "the host is gone", || (sessions(&home)[0]["hosts"] == 0).then_some(()));
    assert_eq!(home.status(&id)["status"], "running");
    let second = hosted(&home);
    wait_until(SOON, "the next host is seen", || (sessions(&home)[0]["hosts"] == 1).then_some(()));
    home.open("go");
    assert_eq!(home.ended(&id)["exit_code"], 5);
    let _ = second.kill();
}

#[test]
fn reading_notifications_does_not_host_a_session() {
    let home = home().with_env("MEANWHILE_SESSION_GRACE_MS", "0");
    let id = start(&home, "s", &[], &children::gated("go", 5));
    home.until_status(&id, "running");
    home.mw(["notices", "--session", "s"]).ok();
    home.mw(["notices", "--session", "s"]).ok();
    home.open("go");
    assert_eq!(home.ended(&id)["exit_code"], 5);
}

#[test]
fn deleting_a_session_removes_its_tasks_and_files() {
    let home = home();
    let live = start(&home, "s", &[], "sleep 600");
    let done = start(&home, "s", &[], "true");
    home.ended(&done);
    home.mw(["session", "delete", "s"]).ok();
    assert_eq!(sessions(&home), Vec::<Value>::new());
    for id in [live, done] {
        assert!(!home.task_dir(&id).exists(), "{id}");
    }
    assert!(!home.state().join("sessions/s").exists());
    // A new session of that name is empty.
    let first = start(&home, "s", &[], "true");
    assert_eq!(home.command(["status", "--json", "bash_1"]).session("s").run().json()["id"], first.as_str());
}

#[test]
fn session_end_refuses_the_default_session_and_invalid_names() {
    let home = home();
    let id = home.start("sleep 600");
    for name in ["default", "", "a\nb"] {
        let refusal = home.mw(["session", "end", name, "--json"]).refusal(2);
        assert_eq!(refusal["code"], "usage", "{refusal}");
    }
    assert_eq!(home.status(&id)["status"], "running");
    home.mw(["kill", &id]).ok();
}

#[test]
fn commands_on_an_unknown_session_fail() {
    let home = home();
    for args in [&["end", "typo"][..], &["delete", "typo"], &["reassign", "typo", "other"]] {
        let refusal = home.mw([&["session", "--json"][..], args].concat()).refusal(5);
        assert_eq!(refusal["code"], "not_found", "{refusal}");
    }
    let refusal = home.mw(["session", "reassign", "a", "a", "--json"]).refusal(2);
    assert_eq!(refusal["code"], "usage", "{refusal}");
}

#[test]
fn an_interrupted_host_ends_its_tasks_and_exits_with_the_signal_code() {
    let home = home();
    let script = format!("{} start --json 'sleep 600' > started; exec sleep 600", env!("CARGO_BIN_EXE_mw"));
    let host = home.command(["session", "run", "s", "--", "sh", "-c", &script]).spawn();
    let started = wait_until(SOON, "its task has started", || {
        std::fs::read(home.work().join("started")).ok().filter(|text| text.ends_with(b"\n"))
    });
    let id = serde_json::from_slice::<Value>(&started).unwrap()["id"].as_str().unwrap().to_owned();
    host.signal(rustix::process::Signal::INT);
    let ended = host.wait();
    assert_eq!(ended.code, Some(130), "{ended}");
    assert_eq!(home.ended(&id)["status"], "cancelled");
}
