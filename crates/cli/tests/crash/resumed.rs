//! A takeover continues everything that was begun, including requests over the control socket.

use std::fs;

use mw_testkit::{Home, Running, SOON, alive, children, wait_until};

use crate::home;

fn start(home: &Home, session: &str, script: &str) -> String {
    let id = home.command(["start", "--json", script]).session(session).run().json();
    let id = id["id"].as_str().unwrap().to_owned();
    let control = home.task_dir(&id).join("control");
    wait_until(SOON, "its supervisor can be reached", || control.exists().then_some(()));
    id
}

/// Starts a host that can be killed: its program does not hold its streams open.
fn host(home: &Home, session: &str) -> Running {
    let quiet = "exec sleep 600 >/dev/null 2>&1";
    let host = home.command(["session", "run", session, "--", "sh", "-c", quiet]).spawn();
    let directory = home.state().join("sessions").join(session);
    wait_until(SOON, "the session is hosted", || {
        let mut entries = fs::read_dir(&directory).ok()?.flatten();
        let is_held = |entry: fs::DirEntry| {
            // It prints its session once the file is locked.
            entry.file_name().to_string_lossy().starts_with("host-")
                && fs::read(entry.path()).is_ok_and(|text| text.ends_with(b"\n"))
        };
        entries.any(is_held).then_some(())
    });
    host
}

fn journal(home: &Home, id: &str) -> String {
    fs::read_to_string(home.task_dir(id).join("journal.jsonl")).unwrap()
}

fn until_taken_over(home: &Home, id: &str) {
    wait_until(SOON, "the guardian has taken over", || {
        journal(home, id).contains("taken_over").then_some(())
    });
}

#[test]
fn a_reassigned_task_keeps_its_new_session_after_a_takeover() {
    let home = home().with_env("MEANWHILE_SESSION_GRACE_MS", "30");
    let (old, new) = (host(&home, "child"), host(&home, "parent"));
    let passed = start(&home, "child", children::SLEEPER);
    let pid = home.pid(&passed);
    let _ = home.mw(["session", "reassign", "child", "parent"]).ok();
    home.kill_process(home.pair(&passed).supervisor);
    until_taken_over(&home, &passed);
    let last = start(&home, "child", children::SLEEPER);
    let _ = old.kill();
    assert_eq!(home.ended(&last)["status"], "cancelled", "a task of the old session ends with it");
    assert!(alive(pid), "the reassigned task keeps running");
    let _ = new.kill();
    home.until_dead(pid);
    assert_eq!(home.ended(&passed)["status"], "cancelled");
}

#[test]
fn a_task_ends_with_its_host_even_if_its_supervisors_are_killed() {
    for both in [false, true] {
        let home = home().with_env("MEANWHILE_SESSION_GRACE_MS", "6000");
        let host = host(&home, "s");
        let id = start(&home, "s", children::SLEEPER);
        let pid = home.pid(&id);
        wait_until(SOON, "its host is known", || journal(&home, &id).contains("hosted").then_some(()));
        let _ = host.kill();
        if both {
            home.kill_supervisors(&id);
            let _ = home.mw(["list", "--json"]).ok();
        } else {
            home.kill_process(home.pair(&id).supervisor);
        }
        home.until_dead(pid);
        assert_eq!(home.ended(&id)["status"], "cancelled", "both: {both}");
    }
}

#[test]
fn a_task_of_a_session_without_a_host_continues_after_a_takeover() {
    let home = home().with_env("MEANWHILE_SESSION_GRACE_MS", "30");
    let id = start(&home, "s", &children::gated("go", 5));
    home.kill_process(home.pair(&id).supervisor);
    until_taken_over(&home, &id);
    // Another task, whose session had a host, ends with that host.
    let host = host(&home, "hosted");
    let other = start(&home, "hosted", children::SLEEPER);
    home.kill_process(home.pair(&other).supervisor);
    until_taken_over(&home, &other);
    let _ = host.kill();
    assert_eq!(home.ended(&other)["status"], "cancelled");
    home.open("go");
    assert_eq!(home.ended(&id)["exit_code"], 5);
}

#[test]
fn a_reported_stall_is_not_reported_again_after_a_takeover() {
    let home = home().with_env("MEANWHILE_STALL_MS", "300");
    let prompt = "printf 'Continue? (y/n) '; exec sleep 600";
    let id = home.start(prompt);
    let stalls = |id: &str| journal(&home, id).matches("\"stalled\"").count();
    wait_until(SOON, "a stall is reported", || (stalls(&id) == 1).then_some(()));
    home.kill_process(home.pair(&id).supervisor);
    until_taken_over(&home, &id);
    let later = home.start(prompt);
    wait_until(SOON, "another stall is reported", || (stalls(&later) == 1).then_some(()));
    assert_eq!(stalls(&id), 1, "{}", journal(&home, &id));
}

/// Begins a kill whose command is killed.
fn begin_kill(home: &Home, grace: &str) -> (String, u32) {
    let id = home.start(children::STUBBORN);
    home.until_logged(&id, "ready");
    let pid = home.pid(&id);
    let killing = home.command(["kill", &id, "--grace", grace]).spawn();
    home.until_status(&id, "cancelling");
    let _ = killing.kill();
    (id, pid)
}

#[test]
fn the_grace_period_of_a_kill_survives_a_takeover() {
    for both in [false, true] {
        let home = home().with_env("MEANWHILE_KILL_GRACE_MS", "600000");
        let (id, pid) = begin_kill(&home, "6s");
        if both {
            home.kill_supervisors(&id);
            let _ = home.mw(["list", "--json"]).ok();
        } else {
            home.kill_process(home.pair(&id).supervisor);
        }
        home.until_dead(pid);
        assert_eq!(home.ended(&id)["status"], "cancelled", "both: {both}");
        home.wait_until_empty(SOON);
    }
}

#[test]
fn a_long_grace_period_is_not_shortened_by_a_takeover() {
    let home = home().with_env("MEANWHILE_KILL_GRACE_MS", "50");
    let (id, pid) = begin_kill(&home, "10m");
    home.kill_process(home.pair(&id).supervisor);
    until_taken_over(&home, &id);
    // A task with a short grace period is killed meanwhile.
    let (hasty, hasty_pid) = begin_kill(&home, "1s");
    home.kill_process(home.pair(&hasty).supervisor);
    home.until_dead(hasty_pid);
    assert!(alive(pid));
    let _ = home.mw(["kill", &id, "--signal", "KILL"]).ok();
    assert!(!alive(pid));
}
