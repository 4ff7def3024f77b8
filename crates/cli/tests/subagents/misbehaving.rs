//! Misbehaving agents: their task always ends, with the reason.

use std::time::Duration;

use mw_testkit::{SOON, wait_until};

use crate::world::World;

/// Starts a misbehaving agent and waits for its end; returns the error.
#[track_caller]
fn failed(world: &World, agent: &str, prompt: &str) -> String {
    let id = world.ask_with(&["--agent", agent], prompt);
    let task = world.home.ended(&id);
    assert_eq!(task["status"], "failed", "{task}");
    assert_eq!(world.notices().len(), 1, "the end is notified once");
    task["agent"]["error"].as_str().unwrap().to_owned()
}

#[test]
fn malformed_messages_are_counted_and_ignored() {
    let world = World::new();
    let id = world.answered("garbage\nsay still here");
    let task = world.status(&id);
    assert_eq!(task["agent"]["answer"], "still here");
    assert_eq!(world.record(&id)["turns"][0]["activity"]["garbage"], 4);
}

#[test]
fn an_agent_that_crashes_in_its_turn_is_reported() {
    let world = World::new();
    let error = failed(&world, "good", "say I begin\ndie 9");
    assert!(error.contains("exited before it answered") && error.contains("exit status: 9"), "{error}");
    assert!(error.contains("I begin"), "the error contains its text: {error}");
}

#[test]
fn an_agent_that_cannot_start_is_reported() {
    let world = World::new();
    let error = failed(&world, "absent", "say hi");
    assert!(error.contains("exit status: 3"), "{error}");
    let log = String::from_utf8(world.home.log(world.home.list()[0]["id"].as_str().unwrap())).unwrap();
    assert!(log.contains("no key is set"), "its standard error is in the log: {log}");
}

#[test]
fn an_agent_that_closes_its_output_is_killed() {
    let world = World::new();
    let error = failed(&world, "good", "close");
    assert!(error.contains("exited before it answered"), "{error}");
    world.home.wait_until_empty(SOON);
}

#[test]
fn an_agent_of_another_version_is_refused() {
    let world = World::new();
    assert!(failed(&world, "newer", "say hi").contains("version"));
}

#[test]
fn a_stop_reason_takes_precedence_over_the_exit_code() {
    let world = World::new();
    let id = world.ask_with(&["--agent", "rude"], "say fine");
    assert_eq!(world.completed(&id)["agent"]["answer"], "fine");
}

#[test]
fn a_turn_that_stops_early_is_a_failure() {
    let world = World::new();
    for reason in ["max_tokens", "refusal", "max_turn_requests", "cancelled"] {
        let error = failed(&world, "good", &format!("say a part\nstop {reason}"));
        assert!(error.contains(reason) && error.contains("a part"), "{error}");
    }
}

#[test]
fn endless_updates_neither_block_a_kill_nor_exceed_the_log_cap() {
    let world = World::with(|home| home.with_env("MEANWHILE_OUTPUT_CAP", "64KiB"));
    let id = world.ask("flood");
    world.until_activity(&id, "many updates", |activity| activity["updates"].as_u64() > Some(500));
    let receipt = world.mw(&["kill", "--json", &id]).json();
    assert_eq!(receipt["status"], "cancelled", "{receipt}");
    world.home.wait_until_empty(SOON);
    assert!(world.home.log(&id).len() < 80 << 10);
}

#[test]
fn silence_of_an_agent_is_notified_as_a_stall() {
    let world = World::with(|home| home.with_env("MEANWHILE_SUBAGENT_SILENCE", "300ms"));
    let id = world.ask("say working\nhang");
    let notices =
        wait_until(SOON, "the stall is notified", || Some(world.notices()).filter(|n| !n.is_empty()));
    assert_eq!(notices.len(), 1, "{notices:?}");
    assert_eq!((&notices[0]["task"], &notices[0]["news"]), (&id.as_str().into(), &"stalled".into()));
    assert!(notices[0]["prompt"].as_str().unwrap().contains("no message from the agent"), "{notices:?}");
    assert_eq!(world.status(&id)["status"], "running");
    // A silence that lasts is notified once: another agent is silent for as long again.
    let other = world.ask("say working\nhang");
    let notices =
        wait_until(SOON, "the other stall is notified", || Some(world.notices()).filter(|n| !n.is_empty()));
    assert_eq!((notices.len(), &notices[0]["task"]), (1, &other.as_str().into()), "{notices:?}");
}

#[test]
fn an_agent_that_does_not_initialize_can_be_killed() {
    let world = World::new();
    let id = world.ask_with(&["--agent", "silent"], "say hi");
    world.home.until_status(&id, "running");
    let receipt = world.command(&["kill", "--json", &id]).limit(Duration::from_secs(80)).run().json();
    assert_eq!(receipt["status"], "cancelled", "{receipt}");
    world.home.wait_until_empty(SOON);
}
