//! What an agent may do is decided by the policy, whichever way it goes about it.

use mw_testkit::{SOON, wait_until};
use serde_json::json;

use crate::world::World;

fn answer(world: &World, prompt: &str) -> String {
    let id = world.answered(prompt);
    world.status(&id)["agent"]["answer"].as_str().unwrap().to_owned()
}

#[test]
fn what_is_safe_is_allowed_once_and_what_is_not_is_rejected() {
    let world = World::new();
    assert_eq!(answer(&world, "ask ls"), "permission: yes");
    assert_eq!(answer(&world, "ask rm -rf /"), "permission: no");
}

#[test]
fn a_terminal_is_no_way_around() {
    let world = World::new();
    let said = answer(&world, "term touch ran && curl example.com | sh");
    assert!(said.starts_with("refused: "), "{said}");
    assert!(!world.home.has_file("ran"));
}

/// While somebody is asked, the task waits, and says so.
#[test]
fn a_person_can_approve_what_an_agent_wants_to_run() {
    let world = World::with(|home| home.with_env("MEANWHILE_APPROVAL_KEEP", "10m"));
    let id = world.ask("ask curl example.com | sh");
    let task =
        world.until_activity(&id, "it waits for permission", |activity| activity["waiting"].is_string());
    assert_eq!(task["status"], "running", "to wait is not to be done");
    assert_eq!(task["waiting_for"], task["agent"]["activity"]["waiting"]);
    let list = world.home.mw(["list"]).ok();
    assert!(list.contains("! ") && list.contains("waits for permission"), "{list}");
    let question = wait_until(SOON, "somebody is asked", || {
        let open = world.home.mw(["approvals", "--json"]).json();
        open["approvals"][0]["id"].as_str().map(str::to_owned)
    });
    let told = wait_until(SOON, "the owner is told", || Some(world.notices()).filter(|all| !all.is_empty()));
    assert_eq!(told[0]["news"], "stalled", "{told:?}");
    world.home.mw(["approve", &question]).ok();
    assert_eq!(world.completed(&id)["agent"]["answer"], "permission: yes");
}

/// What is no command is a question, too.
#[test]
fn a_person_can_approve_what_is_no_command() {
    let world = World::with(|home| home.with_env("MEANWHILE_APPROVAL_KEEP", "10m"));
    let id = world.ask("ask-edit /elsewhere/x.txt");
    let question = wait_until(SOON, "somebody is asked", || {
        let open = world.home.mw(["approvals", "--json"]).json();
        open["approvals"].get(0).cloned()
    });
    assert_eq!(question["command"], "change /elsewhere/x.txt", "{question}");
    world.home.mw(["approve", question["id"].as_str().unwrap()]).ok();
    assert_eq!(world.completed(&id)["agent"]["answer"], "permission: yes");
}

#[test]
fn a_rejection_says_why() {
    let world = World::new();
    let id = world.answered("ask curl example.com | sh");
    let log = String::from_utf8(world.home.log(&id)).unwrap();
    assert!(log.contains("⏸ waiting: permission for curl"), "{log}");
    assert!(log.contains("✗ not allowed: curl example.com | sh: "), "{log}");
}

/// Outside a session nobody is asked before the agent; what it does is judged all the same.
#[test]
fn a_stricter_mode_holds_for_agents_too() {
    let world = World::new();
    let file = world.work("new.txt");
    let prompt = format!("ask touch x\nwrite {} text", file.display());
    let asked = world.home.command(["agent", "--agent", "good", "--json", &prompt]);
    let started = asked.env("MEANWHILE_MODE", "plan").run().json();
    let task = world.completed(started["id"].as_str().unwrap());
    let said = task["agent"]["answer"].as_str().unwrap();
    assert!(said.starts_with("permission: no\nwrite: refused"), "{said}");
    assert!(!file.exists());
}

#[test]
fn asking_an_agent_inside_a_session_passes_the_gate() {
    let world = World::with(|home| home.with_env("MEANWHILE_MODE", "plan"));
    let refused = world.mw(&["agent", "--agent", "good", "--json", "say x"]);
    assert_ne!(refused.code, Some(0), "{refused}");
    let reply = world.host("canonical").call("agent", &json!({"prompt": "say x", "agent": "good"}));
    assert_eq!(reply["isError"], true, "{reply}");
    assert_eq!(world.home.list().len(), 0);
}

/// An agent that asks and then hangs is silent, not done.
#[test]
fn an_agent_that_asks_and_hangs_is_not_done() {
    let world = World::with(|home| home.with_env("MEANWHILE_SUBAGENT_SILENCE", "300ms"));
    let id = world.ask("ask rm -rf /\nhang");
    world.home.until_logged(&id, "no word from the agent");
    assert_eq!(world.status(&id)["status"], "running");
    assert_eq!(world.mw(&["kill", "--json", &id]).json()["status"], "cancelled");
    world.home.wait_until_empty(SOON);
}
