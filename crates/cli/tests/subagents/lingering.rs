//! Agents that cannot reload a session: they are kept alive for a while.

use std::time::Duration;

use mw_testkit::{SOON, processes, wait_until};
use serde_json::json;

use crate::world::{SESSION, World};

fn answered(world: &World) -> String {
    let id = world.ask_with(&["--agent", "forgetful"], "say one");
    world.completed(&id);
    id
}

#[test]
fn a_lingering_agent_remembers_the_conversation() {
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
fn a_follow_up_after_the_linger_time_fails_with_a_next_step() {
    let world = World::with(|home| home.with_env("MEANWHILE_SUBAGENT_LINGER", "100ms"));
    let id = answered(&world);
    world.home.wait_until_empty(SOON);
    let refusal = world.mw(&["resume", "--json", &id, "say two"]).json();
    assert_eq!(refusal["error"]["code"], "session_expired", "{refusal}");
    let message = refusal["error"]["message"].as_str().unwrap();
    assert_eq!(message, format!("the session of {id}'s agent has expired"));
    assert_eq!(world.status(&id)["agent"]["answer"], "one");
}

#[test]
fn without_linger_time_no_process_is_left() {
    let world = World::with(|home| home.with_env("MEANWHILE_SUBAGENT_LINGER", "0"));
    let id = answered(&world);
    world.home.wait_until_empty(SOON);
    assert_eq!(world.home.list().len(), 1);
    assert_eq!(world.mw(&["resume", "--json", &id, "x"]).json()["error"]["code"], "session_expired");
}

#[test]
fn killing_a_follow_up_ends_the_agent_too() {
    let world = World::new();
    let id = answered(&world);
    world.resume(&id, "say working\nhang");
    world.home.until_logged(&id, "working");
    world.mw(&["kill", &id]).ok();
    world.home.wait_until_empty(SOON);
    assert_eq!(world.completed(&id)["agent"]["answer"], "one");
}

#[test]
fn killing_the_driver_ends_the_agent() {
    let world = World::new();
    let id = world.ask_with(&["--agent", "forgetful"], "say working\nhang");
    world.home.until_logged(&id, "working");
    world.home.kill_process(world.home.pid(&id));
    assert_eq!(world.home.ended(&id)["status"], "failed");
    world.home.wait_until_empty(SOON);
}

/// Returns the keeper task of an agent, and checks that it runs.
#[track_caller]
fn keeper_of(world: &World, id: &str) -> String {
    let listed = world.home.mw(["list", "--internal", "--status", "running", "--json"]).json();
    assert_eq!(listed["total"], 1, "{listed}");
    let keeper = &listed["tasks"][0];
    assert_eq!(keeper["session"], format!("{id}:keeper"), "{listed}");
    keeper["id"].as_str().unwrap().to_owned()
}

/// Checks that nothing is left of a keeper: no process, no task, no session.
#[track_caller]
fn assert_nothing_is_left(world: &World) {
    world.home.wait_until_empty(SOON);
    let listed = world.home.mw(["list", "--all", "--internal", "--json"]).json();
    assert_eq!(listed["total"], 0, "{listed}");
    let sessions = world.home.mw(["session", "list", "--json"]).exits(0).text();
    assert!(!sessions.contains("keeper"), "{sessions}");
    let left: Vec<_> = std::fs::read_dir(world.home.state().join("tasks")).unwrap().flatten().collect();
    assert!(left.is_empty(), "{left:?}");
    let sessions = std::fs::read_dir(world.home.state().join("sessions")).unwrap().flatten();
    let names: Vec<_> = sessions.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    assert!(!names.iter().any(|name| name.starts_with("agent-")), "{names:?}");
}

#[test]
fn clearing_the_task_ends_the_lingering_agent() {
    let world = World::new();
    let id = answered(&world);
    keeper_of(&world, &id);
    world.mw(&["clear", &id]).ok();
    assert_nothing_is_left(&world);
}

#[test]
fn an_idle_keeper_sleeps() {
    let world = World::new();
    let id = answered(&world);
    let is_keeper = |pid: &u32| {
        let words = processes::command_line(*pid);
        words.iter().any(|word| word == "agent-keeper")
    };
    let keeper = wait_until(SOON, "the keeper waits", || world.home.tagged().into_iter().find(is_keeper));
    processes::until_asleep(Duration::from_secs(1), &[keeper]);
    world.mw(&["clear", &id]).ok();
}

#[test]
fn deleting_the_session_ends_the_lingering_agent() {
    let world = World::new();
    let id = answered(&world);
    keeper_of(&world, &id);
    world.mw(&["session", "delete", SESSION]).ok();
    assert_nothing_is_left(&world);
}

#[test]
fn an_expired_keeper_is_removed_with_its_agent() {
    let world = World::with(|home| home.with_env("MEANWHILE_SUBAGENT_LINGER", "100ms"));
    let id = answered(&world);
    world.home.wait_until_empty(SOON);
    world.mw(&["clear", &id]).ok();
    assert_nothing_is_left(&world);
}

#[test]
fn a_keeper_is_shown_only_when_requested() {
    let inputs_file = "hook-inputs.jsonl";
    let world = World::with(|home| {
        let command = format!("cat >> {}", home.work().join(inputs_file).display());
        let home = home.with_env("MEANWHILE_HOOKS_START", &command);
        home.with_env("MEANWHILE_HOOKS_EXIT", &command)
    });
    let id = answered(&world);
    let keeper = keeper_of(&world, &id);
    let looks: [&[&str]; 8] = [
        &["list", "--all"],
        &["list", "--all", "--json"],
        &["list", "--status", "running,completed", "--json"],
        &["session", "list"],
        &["session", "list", "--json"],
        &["watch", "--from", "0", "--no-follow"],
        &["traces"],
        &["notices", "--session", SESSION, "--json"],
    ];
    let unseen = || {
        for look in looks {
            let outcome = world.home.mw(look);
            assert_eq!(outcome.code, Some(0), "{outcome}");
            let shown = outcome.text();
            assert!(!shown.contains("keeper") && !shown.contains(&keeper), "{look:?}: {shown}");
        }
        let listed = world.home.mw(["list", "--json", "--limit", "0"]).json();
        assert_eq!(listed["total"], 1, "{listed}");
    };
    unseen();
    // Only its complete id finds the keeper; a number, a prefix and the bare characters do not.
    for handle in ["bash_1", &keeper[..9], keeper.strip_prefix("bash-").unwrap()] {
        assert_eq!(
            world.home.mw(["status", handle, "--json"]).json()["error"]["code"],
            "not_found",
            "{handle}"
        );
    }
    assert_eq!(world.home.status(&keeper)["status"], "running");
    let session = format!("{id}:keeper");
    let listed = world.home.mw(["list", "--session", &session, "--json"]).json();
    assert_eq!(listed["tasks"][0]["id"], keeper.as_str(), "{listed}");
    world.home.mw(["kill", &keeper]).ok();
    world.home.wait_until_empty(SOON);
    unseen();
    let doctor = world.home.mw(["doctor", "--json"]).text();
    assert!(doctor.contains("1 task\""), "{doctor}");
    assert_eq!(world.home.mw(["notices", "--session", &session, "--json"]).json()["notices"], json!([]));
    // Hooks run in the order of the events, so this one runs last.
    let last = world.home.start("true");
    let heard = wait_until(SOON, "the last hook has run", || {
        let heard = std::fs::read_to_string(world.home.work().join(inputs_file)).ok()?;
        let is_last = |line: &str| line.contains(&last) && line.contains("background:exit");
        heard.lines().any(is_last).then_some(heard)
    });
    assert!(heard.contains(&id) && !heard.contains(&keeper), "{heard}");
}

#[test]
fn killing_a_finished_agent_ends_its_keeper() {
    for (named, receipts) in [(true, ""), (false, "/receipts/0")] {
        let world = World::new();
        let id = answered(&world);
        keeper_of(&world, &id);
        let receipt = world.home.mw(["kill", "--json", if named { &id } else { "--all" }]).json();
        let receipt = receipt.pointer(receipts).unwrap();
        assert_eq!(receipt["id"], id.as_str(), "{receipt}");
        assert_eq!(receipt["status"], "completed", "{receipt}");
        assert!(!receipt["killed"].as_array().unwrap().is_empty(), "{receipt}");
        world.home.wait_until_empty(SOON);
        assert_eq!(world.mw(&["resume", "--json", &id, "x"]).json()["error"]["code"], "session_expired");
        assert_eq!(world.status(&id)["agent"]["answer"], "one");
    }
}

#[test]
fn a_keeper_ends_even_if_the_clear_command_was_killed() {
    let world = World::new();
    let id = answered(&world);
    keeper_of(&world, &id);
    let killed = world.command(&["clear", &id]).env("MEANWHILE_FAIL_AT", "clear-committed").run();
    assert_eq!(killed.signal, Some(9), "{killed}");
    world.home.mw(["clear", "--expired"]).ok();
    assert_nothing_is_left(&world);
}

#[test]
fn keepers_do_not_count_towards_the_retention_limit() {
    let world = World::with(|home| {
        home.with_env("MEANWHILE_SUBAGENT_LINGER", "100ms").with_env("MEANWHILE_RETENTION_MAX_TASKS", "1")
    });
    let id = answered(&world);
    world.home.wait_until_empty(SOON);
    world.notices();
    let report = world.home.mw(["clear", "--expired", "--json"]).json();
    assert_eq!(report["cleared"], json!([]), "{report}");
    assert_eq!(world.status(&id)["agent"]["answer"], "one");
    let report = world.home.mw(["clear", "--finished", "--json"]).json();
    assert_eq!(report["cleared"], json!([id]), "{report}");
    assert_nothing_is_left(&world);
}

#[test]
fn ending_a_session_ends_its_keepers() {
    let world = World::new();
    let id = answered(&world);
    let keeper = keeper_of(&world, &id);
    let ended = world.home.mw(["session", "end", SESSION, "--json"]).exits(0).json();
    assert_eq!(ended["receipts"][0]["id"], id.as_str(), "{ended}");
    assert_eq!(world.home.status(&keeper)["status"], "cancelled");
    world.home.wait_until_empty(SOON);
    assert_eq!(world.status(&id)["agent"]["answer"], "one");
}

#[test]
fn ending_a_session_reports_idle_agents_as_idle() {
    let world = World::new();
    let id = answered(&world);
    keeper_of(&world, &id);
    let said = world.home.mw(["session", "end", SESSION]).ok();
    assert!(
        said.starts_with(&format!("{id}: the agent was completed and idle; ended: SIGTERM to ")),
        "{said}"
    );
    let world = World::new();
    let wait = "while [ ! -e go ]; do sleep 0.02; done";
    let host = world.home.command(["session", "run", SESSION, "--", "sh", "-c", wait]).spawn();
    let id = answered(&world);
    keeper_of(&world, &id);
    world.home.open("go");
    let ended = host.wait();
    let note = format!("session {SESSION} ended, and 1 idle agent with it");
    assert!(ended.stderr_text().contains(&note), "{ended}");
}

#[test]
fn keepers_end_with_the_host_of_their_session() {
    let world = World::with(|home| home.with_env("MEANWHILE_SESSION_GRACE_MS", "200"));
    let quiet = "exec sleep 600 >/dev/null 2>&1";
    let host = world.home.command(["session", "run", SESSION, "--", "sh", "-c", quiet]).spawn();
    wait_until(SOON, "the session is hosted", || {
        let held = std::fs::read_dir(world.home.state().join("sessions").join(SESSION));
        (held.is_ok_and(|mut entries| entries.next().is_some())).then_some(())
    });
    let id = answered(&world);
    let keeper = keeper_of(&world, &id);
    let _ = host.kill();
    world.home.until_status(&keeper, "cancelled");
}
