//! Limits on concurrent and on nested agents.

use crate::world::World;

#[test]
fn agents_have_separate_slots() {
    let world = World::with(|home| {
        home.with_env("MEANWHILE_SUBAGENT_MAX_RUNNING", "1").with_env("MEANWHILE_QUEUE_MAX_RUNNING", "1")
    });
    let command = world.mw(&["start", "--json", "sleep 600"]).json();
    assert_eq!(command["status"], "running");
    let first = world.ask("wait gate\nsay one");
    assert_eq!(world.status(&first)["status"], "running", "a command takes no slot of an agent");
    let second = world.ask("say two");
    let task = world.status(&second);
    assert_eq!((&task["status"], &task["queue_position"]), (&"pending".into(), &1.into()));
    let waiting = world.mw(&["start", "--json", "true"]).json();
    assert_eq!(waiting["status"], "pending", "the first command holds the only slot of commands");
    world.home.open("gate");
    world.completed(&second);
    let refused = world.ask("hang");
    let outcome = world.mw(&["agent", "--agent", "good", "--at-capacity", "reject", "--json", "say x"]);
    assert_eq!(outcome.json()["error"]["code"], "at_capacity", "{outcome}");
    world.mw(&["kill", &refused]).ok();
}

#[test]
fn queued_agents_keep_the_limit_of_their_start() {
    const LIMIT: &str = "MEANWHILE_SUBAGENT_MAX_RUNNING";
    let world = World::with(|home| home.with_env(LIMIT, "2"));
    let ids: Vec<_> = ["one", "two", "three", "four"].map(|gate| world.ask(&format!("wait {gate}"))).into();
    let states = || ids.iter().map(|id| world.status(id)["status"].clone()).collect::<Vec<_>>();
    assert_eq!(states(), ["running", "running", "pending", "pending"]);
    let _ = world.command(&["list"]).without(LIMIT).run().ok();
    assert_eq!(states(), ["running", "running", "pending", "pending"]);
    let _ = world.command(&["kill", &ids[0]]).without(LIMIT).run().ok();
    world.home.until_status(&ids[2], "running");
    assert_eq!(states(), ["cancelled", "running", "running", "pending"]);
    let held = world
        .command(&["run", "--at-capacity", "queue", "--kind", "agent", "--detach-after", "300ms", "true"])
        .run()
        .exits(0);
    let said = String::from_utf8_lossy(&held.stderr);
    assert!(said.contains("2 of 2 slots are in use") && said.contains(&format!("{LIMIT}=4")), "{said}");
    for gate in ["two", "three", "four"] {
        world.home.open(gate);
    }
    ids[1..].iter().for_each(|id| drop(world.completed(id)));
}

#[test]
fn the_depth_of_nested_agents_is_limited() {
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
