//! Agents that cannot reload a session: they are kept alive for a while.

use std::time::Instant;

use mw_testkit::{SOON, wait_until};

use crate::world::{SESSION, World};

fn answered(world: &World) -> String {
    let id = world.ask_with(&["--agent", "forgetful"], "say one");
    world.completed(&id);
    id
}

#[test]
fn an_agent_that_lingers_remembers() {
    let world = World::new();
    let id = answered(&world);
    for count in 1..=2 {
        world.resume(&id, "history");
        let task = world.completed(&id);
        let said = task["agent"]["answer"].as_str().unwrap();
        assert!(said.starts_with("say one"), "{said}");
        assert_eq!(task["resume_count"], count, "{task}");
    }
}

#[test]
fn after_its_time_it_is_gone_and_the_error_says_what_to_do() {
    let world = World::with(|home| home.with_env("MEANWHILE_SUBAGENT_LINGER", "100ms"));
    let id = answered(&world);
    world.home.wait_until_empty(SOON);
    let refusal = world.mw(&["resume", "--json", &id, "say two"]).json();
    assert_eq!(refusal["error"]["code"], "session_expired", "{refusal}");
    let message = refusal["error"]["message"].as_str().unwrap();
    assert!(message.contains("session expired, start a new background_task"), "{message}");
    assert_eq!(world.status(&id)["agent"]["answer"], "one");
}

#[test]
fn without_time_to_linger_nothing_is_left() {
    let world = World::with(|home| home.with_env("MEANWHILE_SUBAGENT_LINGER", "0"));
    let id = answered(&world);
    world.home.wait_until_empty(SOON);
    assert_eq!(world.home.list().len(), 1);
    assert_eq!(world.mw(&["resume", "--json", &id, "x"]).json()["error"]["code"], "session_expired");
}

#[test]
fn a_kill_of_a_follow_up_takes_the_agent_too() {
    let world = World::new();
    let id = answered(&world);
    world.resume(&id, "say working\nhang");
    world.home.until_logged(&id, "working");
    world.mw(&["kill", &id]).ok();
    world.home.wait_until_empty(SOON);
    assert_eq!(world.completed(&id)["agent"]["answer"], "one");
}

#[test]
fn a_killed_driver_takes_the_agent_along() {
    let world = World::new();
    let id = world.ask_with(&["--agent", "forgetful"], "say working\nhang");
    world.home.until_logged(&id, "working");
    world.home.slay(world.home.pid(&id));
    assert_eq!(world.home.ended(&id)["status"], "failed");
    world.home.wait_until_empty(SOON);
}

/// Nothing is left of what kept an agent: no process, no task, no session.
#[track_caller]
fn assert_nothing_is_left(world: &World) {
    world.home.wait_until_empty(SOON);
    let listed = world.mw(&["list", "--all", "--json"]).json();
    assert_eq!(listed["total"], 0, "{listed}");
    let sessions = world.mw(&["session", "list", "--json"]).exits(0).text();
    assert!(!sessions.contains("keeper"), "{sessions}");
    let left: Vec<_> = std::fs::read_dir(world.home.state().join("tasks")).unwrap().flatten().collect();
    assert!(left.is_empty(), "{left:?}");
    let sessions = std::fs::read_dir(world.home.state().join("sessions")).unwrap().flatten();
    let names: Vec<_> = sessions.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    assert!(!names.iter().any(|name| name.contains("keeper")), "{names:?}");
}

#[test]
fn a_cleared_task_keeps_no_agent() {
    let world = World::new();
    let id = answered(&world);
    wait_until(SOON, "the keeper waits", || (!world.home.tagged().is_empty()).then_some(()));
    world.mw(&["clear", &id]).ok();
    assert_nothing_is_left(&world);
}

/// How often a process has gone to sleep by itself.
fn naps(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:")).unwrap();
    line.trim().parse().unwrap()
}

#[test]
fn a_keeper_sleeps_while_nobody_comes() {
    let world = World::new();
    let id = answered(&world);
    let is_keeper = |pid: &u32| {
        let words = mw_testkit::processes::words(*pid);
        words.iter().any(|word| word == "agent-keeper")
    };
    let keeper = wait_until(SOON, "the keeper waits", || world.home.tagged().into_iter().find(is_keeper));
    let (before, begun) = (naps(keeper), Instant::now());
    wait_until(SOON, "two seconds have passed", || (begun.elapsed().as_secs() >= 2).then_some(()));
    let woken = naps(keeper) - before;
    assert!(woken < 20, "woken {woken} times in two seconds");
    world.mw(&["clear", &id]).ok();
}

#[test]
fn a_deleted_session_keeps_no_agent() {
    let world = World::new();
    answered(&world);
    wait_until(SOON, "the keeper waits", || (!world.home.tagged().is_empty()).then_some(()));
    world.mw(&["session", "delete", SESSION]).ok();
    assert_nothing_is_left(&world);
}
