//! Killing a subagent: cancel first, then signals, and no process is left.

use mw_testkit::SOON;

use crate::world::World;

#[test]
fn a_kill_sends_cancel_to_the_agent_first() {
    let world = World::with_patience();
    let id = world.ask("say working\nhang");
    world.home.until_logged(&id, "working");
    let receipt = world.mw(&["kill", "--json", &id]).json();
    assert_eq!(receipt["status"], "cancelled", "{receipt}");
    assert_eq!(receipt["signals"].as_array().unwrap().len(), 1, "no SIGKILL was needed: {receipt}");
    assert!(world.home.user().join("agent-state/cancelled").exists());
    let turn = &world.record(&id)["turns"][0];
    assert!(turn["error"].as_str().unwrap().starts_with("cancelled"), "{turn}");
    world.home.wait_until_empty(SOON);
}

#[test]
fn an_agent_that_ignores_cancel_is_killed_after_the_timeout() {
    let world = World::with(|home| home.with_env("MEANWHILE_SUBAGENT_CANCEL_MS", "200"));
    let id = world.ask_with(&["--agent", "deaf"], "say working\nhang");
    world.home.until_logged(&id, "working");
    let receipt = world.mw(&["kill", "--json", &id]).json();
    assert_eq!((&receipt["status"], &receipt["survivors"]), (&"cancelled".into(), &serde_json::json!([])));
    world.home.wait_until_empty(SOON);
}

#[test]
fn a_kill_leaves_no_process_of_the_agent() {
    let world = World::with(|home| home.with_env("MEANWHILE_MODE", "dangerous"));
    let spawn = "spawn echo $$ > child.new; mv child.new child; exec sleep 600";
    let terminal = "term-bg echo $$ > terminal.new; mv terminal.new terminal; exec sleep 600";
    let server = r#"mcp shell {"command": "echo $$ > task.new; mv task.new task; exec sleep 600", "run_in_background": true}"#;
    let id = world.ask(&format!("{spawn}\n{terminal}\n{server}\nsay ready\nhang"));
    let pids = ["child", "terminal", "task"].map(|file| world.home.pid_in(file));
    world.home.until_logged(&id, "ready");
    assert_eq!(world.mw(&["kill", "--json", &id]).json()["status"], "cancelled");
    pids.iter().for_each(|pid| world.home.until_dead(*pid));
    world.home.wait_until_empty(SOON);
}

#[test]
fn a_finished_agent_leaves_no_process() {
    let world = World::new();
    let spawn = "spawn echo $$ > child.new; mv child.new child; exec sleep 600";
    let id = world.ask(&format!("{spawn}\nwait child\nsay done"));
    let pid = world.home.pid_in("child");
    assert_eq!(world.completed(&id)["survivors"], 0);
    world.home.until_dead(pid);
    world.home.wait_until_empty(SOON);
}

#[test]
fn a_killed_driver_is_a_failure_and_its_tasks_pass_to_the_owner() {
    let world = World::new();
    let server = r#"mcp shell {"command": "echo $$ > task.new; mv task.new task; exec sleep 600", "run_in_background": true}"#;
    let id = world.ask(&format!("{server}\nsay ready\nhang"));
    let task = world.home.pid_in("task");
    world.home.until_logged(&id, "ready");
    world.home.kill_process(world.home.pid(&id));
    let ended = world.home.ended(&id);
    assert_eq!((&ended["status"], &ended["signal"]), (&"failed".into(), &"SIGKILL".into()), "{ended}");
    assert!(mw_testkit::alive(task), "the task of the agent keeps running");
    let left = world.home.list().into_iter().find(|one| one["kind"] == "shell").unwrap();
    let owner = || world.status(left["id"].as_str().unwrap())["session"] == crate::world::SESSION;
    mw_testkit::wait_until(SOON, "it belongs to the owner of the agent", || owner().then_some(()));
    assert_eq!(world.notices().len(), 1);
}

#[test]
fn an_agent_ends_at_its_time_limit() {
    let world = World::with_patience();
    let id = world.ask_with(&["--agent", "good", "--timeout", "8s"], "say working\nhang");
    let task = world.home.ended(&id);
    assert_eq!(task["status"], "timed_out", "{task}");
    assert!(world.home.user().join("agent-state/cancelled").exists());
    world.home.wait_until_empty(SOON);
}
