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

/// Returns the task that keeps an agent alive, which it does.
#[track_caller]
fn keeper_of(world: &World, id: &str) -> String {
    let listed = world.home.mw(["list", "--internal", "--status", "running", "--json"]).json();
    assert_eq!(listed["total"], 1, "{listed}");
    let keeper = &listed["tasks"][0];
    assert_eq!(keeper["session"], format!("{id}:keeper"), "{listed}");
    keeper["id"].as_str().unwrap().to_owned()
}

/// Nothing is left of what kept an agent: no process, no task, no session.
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
fn a_cleared_task_keeps_no_agent() {
    let world = World::new();
    let id = answered(&world);
    keeper_of(&world, &id);
    world.mw(&["clear", &id]).ok();
    assert_nothing_is_left(&world);
}

#[test]
fn a_keeper_sleeps_while_nobody_comes() {
    let world = World::new();
    let id = answered(&world);
    let is_keeper = |pid: &u32| {
        let words = processes::words(*pid);
        words.iter().any(|word| word == "agent-keeper")
    };
    let keeper = wait_until(SOON, "the keeper waits", || world.home.tagged().into_iter().find(is_keeper));
    processes::until_asleep(Duration::from_secs(1), &[keeper]);
    world.mw(&["clear", &id]).ok();
}

#[test]
fn a_deleted_session_keeps_no_agent() {
    let world = World::new();
    let id = answered(&world);
    keeper_of(&world, &id);
    world.mw(&["session", "delete", SESSION]).ok();
    assert_nothing_is_left(&world);
}

#[test]
fn what_kept_an_agent_until_its_time_was_up_goes_with_the_agent() {
    let world = World::with(|home| home.with_env("MEANWHILE_SUBAGENT_LINGER", "100ms"));
    let id = answered(&world);
    world.home.wait_until_empty(SOON);
    world.mw(&["clear", &id]).ok();
    assert_nothing_is_left(&world);
}

#[test]
fn what_keeps_an_agent_is_seen_only_by_whoever_asks_for_it() {
    let told = "told.jsonl";
    let world = World::with(|home| {
        let command = format!("cat >> {}", home.work().join(told).display());
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
    // Nobody means it who does not say so.
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
    // Hooks are told in the order of the events, so this one is told last.
    let last = world.home.start("true");
    let heard = wait_until(SOON, "the last hook has run", || {
        let heard = std::fs::read_to_string(world.home.work().join(told)).ok()?;
        let is_last = |line: &str| line.contains(&last) && line.contains("background:exit");
        heard.lines().any(is_last).then_some(heard)
    });
    assert!(heard.contains(&id) && !heard.contains(&keeper), "{heard}");
}

#[test]
fn a_kill_of_an_agent_that_has_answered_ends_what_keeps_it() {
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
fn what_keeps_an_agent_goes_though_whoever_removed_the_agent_was_killed() {
    let world = World::new();
    let id = answered(&world);
    keeper_of(&world, &id);
    let killed = world.command(&["clear", &id]).env("MEANWHILE_FAIL_AT", "clear-committed").run();
    assert_eq!(killed.signal, Some(9), "{killed}");
    world.mw(&["clear", "--expired"]).ok();
    assert_nothing_is_left(&world);
}

#[test]
fn what_kept_an_agent_does_not_count_where_the_number_of_tasks_is_limited() {
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
fn the_end_of_a_session_ends_what_keeps_its_agents() {
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
fn an_idle_agent_is_called_so_when_its_session_ends() {
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
    assert!(ended.complaint().contains(&note), "{ended}");
}

#[test]
fn what_keeps_an_agent_ends_with_the_host_of_its_session() {
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
