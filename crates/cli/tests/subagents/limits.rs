//! How many agents run at a time, and how many above each other.

use crate::world::World;

#[test]
fn agents_have_slots_of_their_own() {
    let world = World::with(|home| {
        home.with_env("MEANWHILE_SUBAGENT_MAX_RUNNING", "1").with_env("MEANWHILE_QUEUE_MAX_RUNNING", "1")
    });
    let command = world.mw(&["start", "--json", "sleep 600"]).json();
    assert_eq!(command["status"], "running");
    let first = world.ask("wait gate\nsay one");
    assert_eq!(world.status(&first)["status"], "running", "a command takes no agent's slot");
    let second = world.ask("say two");
    let task = world.status(&second);
    assert_eq!((&task["status"], &task["queue_position"]), (&"pending".into(), &1.into()));
    let waiting = world.mw(&["start", "--json", "true"]).json();
    assert_eq!(waiting["status"], "pending", "nor the other way round");
    world.home.open("gate");
    world.completed(&second);
    let refused = world.ask("hang");
    let outcome = world.mw(&["agent", "--agent", "good", "--at-capacity", "reject", "--json", "say x"]);
    assert_eq!(outcome.json()["error"]["code"], "at_capacity", "{outcome}");
    world.mw(&["kill", &refused]).ok();
}

#[test]
fn agents_of_agents_are_limited() {
    let world = World::new();
    let mw = env!("CARGO_BIN_EXE_mw");
    let ask = |inner: &str| format!("run {mw} agent --agent good --json {inner} 2>&1");
    let id = world.answered(&ask("'run env | grep DEPTH; echo $MEANWHILE_SESSION'"));
    let answer = world.status(&id)["agent"]["answer"].as_str().unwrap().to_owned();
    let inner: serde_json::Value = serde_json::from_str(&answer).unwrap();
    let inner_id = inner["id"].as_str().unwrap().to_owned();
    let inner = world.completed(&inner_id);
    assert_eq!(inner["agent"]["answer"], format!("MEANWHILE_DEPTH=2\n{inner_id}"));
    let deep = world.home.command(["agent", "--agent", "good", "--json", "say x"]);
    let refused = deep.env("MEANWHILE_DEPTH", "2").run();
    assert_eq!(refused.code, Some(2), "{refused}");
    assert!(refused.json()["error"]["message"].as_str().unwrap().contains("subagent.max_depth"), "{refused}");
}
