//! The tools for agents of the canonical set, and of other dialects.

use mw_testkit::host::text;
use serde_json::{Value, json};

use crate::world::World;

#[test]
fn canonical_tools_start_wait_for_and_resume_agents() {
    let world = World::new();
    let mut host = world.host("canonical");
    let reply = host.call("agent", &json!({"prompt": "say hello", "agent": "good"}));
    let data = &reply["structuredContent"];
    assert_eq!((&data["answer"], &data["status"]), (&"hello".into(), &"completed".into()), "{reply}");
    let id = data["task_id"].as_str().unwrap().to_owned();
    assert_eq!(world.notices().len(), 0, "the reply reported it");
    let reply = host.call("task_resume", &json!({"task_id": id, "message": "history"}));
    assert_ne!(reply["isError"], true, "{reply}");
    host.call("task_wait", &json!({"task_ids": [id]}));
    let reply = host.call("task_output", &json!({"task_id": id}));
    assert_eq!(reply["structuredContent"]["output"], "say hello", "{reply}");
    let begun = host.call(
        "agent",
        &json!({"prompt": "hang", "agent": "good", "run_in_background": true, "batch_id": "x"}),
    );
    assert_eq!(begun["structuredContent"]["status"], "running");
    let listed = host.call("task_list", &json!({"batch_id": "x"}));
    assert_eq!(listed["structuredContent"]["tasks"].as_array().unwrap().len(), 1);
    let stopped = host.call("task_stop", &json!({"batch_id": "x"}));
    assert_eq!(stopped["structuredContent"]["tasks"][0]["status"], "cancelled", "{stopped}");
    host.call("task_clear", &json!({"batch_id": "x"}));
    assert_eq!(world.home.list().len(), 1);
}

#[test]
fn a_failed_agent_fails_the_call() {
    let world = World::new();
    let mut host = world.host("canonical");
    let reply = host.call("agent", &json!({"prompt": "error no luck", "agent": "good"}));
    assert_eq!(reply["isError"], true, "{reply}");
    assert!(text(&reply).contains("no luck"), "{reply}");
    let reply = host.call("agent", &json!({"prompt": "x", "agent": "nobody"}));
    assert_eq!(reply["isError"], true, "{reply}");
}

#[test]
fn mycode_starts_agents_in_foreground_and_background() {
    let world = World::new();
    let mut host = world.host("mycode");
    let given = json!({"description": "Try", "prompt": "wait gate\nsay done", "subagent_type": "good", "run_in_background": true});
    let reply = host.call("Task", &given)["structuredContent"].clone();
    let id = reply["task_id"].as_str().unwrap().to_owned();
    let file = reply["output_file"].as_str().unwrap().to_owned();
    assert!(file.ends_with(".json"), "{reply}");
    world.home.open("gate");
    let output = host.call("TaskOutput", &json!({"task_id": id}))["structuredContent"].clone();
    assert_eq!((&output["output"], &output["status"]), (&"done".into(), &"completed".into()));
    let record: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    assert_eq!(record["turns"][0]["answer"], "done");
    let reply =
        host.call("Task", &json!({"description": "Try", "prompt": "say now", "subagent_type": "good"}));
    assert_eq!(reply["structuredContent"]["output"], "now", "{reply}");
}

/// The example of mycode's text: its "Bash" is the default agent.
#[test]
fn the_example_of_mycode_works() {
    let world = World::with(|home| home.with_env("MEANWHILE_SUBAGENT_DEFAULT", "good"));
    let mut host = world.host("mycode");
    let given = json!({
        "description": "Run tests", "prompt": "say all passed", "subagent_type": "Bash", "run_in_background": true,
    });
    let started = host.call("Task", &given);
    assert_ne!(started["isError"], true, "{started}");
    let started = &started["structuredContent"];
    let id = started["task_id"].as_str().unwrap();
    assert!(id.starts_with("agent-"), "{started}");
    let wanted = world.home.state().join(format!("tasks/{id}.json"));
    assert_eq!(started["output_file"], wanted.to_str().unwrap());
    let output = host.call("TaskOutput", &json!({"task_id": id}))["structuredContent"].clone();
    assert_eq!((&output["output"], &output["status"]), (&"all passed".into(), &"completed".into()));
    let record = &output["task"];
    assert_eq!((&record["type"], &record["description"]), (&"agent".into(), &"Run tests".into()), "{record}");
    assert_eq!(record["metadata"], json!({"subagentType": "good", "prompt": "say all passed"}), "{record}");
    assert!(wanted.is_file(), "{record}");
    let unknown = host.call("Task", &json!({"description": "x", "prompt": "x", "subagent_type": "nobody"}));
    assert_eq!(unknown["isError"], true, "{unknown}");
}

#[test]
fn zidane_cannot_kill_an_agent() {
    let world = World::new();
    let agent = world.ask("hang");
    let mut host = world.host("zidane");
    let refused = host.call("shell_kill", &json!({"task_id": agent}));
    assert_eq!(refused["isError"], true, "{refused}");
    assert_eq!(world.status(&agent)["status"], "running");
    let _ = world.mw(&["kill", &agent]).ok();
}

#[test]
fn the_start_reply_of_an_agent_says_whether_it_ends_with_the_session() {
    for (end, words, ends) in [
        ("keep", "It keeps running when this session ends.", false),
        ("kill", "It ends with this session.", true),
    ] {
        let world = World::with(|home| home.with_env("MEANWHILE_SESSION_END", end));
        let mut host = world.host("canonical");
        let given = json!({"prompt": "wait gate\nsay done", "agent": "good", "run_in_background": true});
        let reply = host.call("agent", &given);
        assert!(text(&reply).ends_with(words), "{end}: {reply}");
        assert_eq!(reply["structuredContent"]["ends_with_session"], ends, "{end}: {reply}");
        world.home.open("gate");
        let id = reply["structuredContent"]["task_id"].as_str().unwrap().to_owned();
        host.call("task_wait", &json!({"task_ids": [id]}));
        let reply = host.call("task_resume", &json!({"task_id": id, "message": "hang"}));
        assert!(text(&reply).ends_with(words), "{end}: {reply}");
        host.call("task_stop", &json!({"task_ids": [id]}));
    }
}

/// The reply says why the call returned, after what time, and what the agent has said so far.
#[test]
fn an_agent_beyond_the_call_limit_continues_and_the_reply_has_its_text_so_far() {
    let world = World::with(|home| home.with_env("MEANWHILE_TOOLS_LONGEST_CALL", "3s"));
    let prompt = "say half of it\nhang";
    for (dialect, tool, why) in [
        ("canonical", "agent", "[still running after 3."),
        ("mycode", "Task", "Still running after 3s; it continues in the background."),
    ] {
        let mut host = world.host(dialect);
        let given = json!({"description": "Try", "prompt": prompt, "agent": "good", "subagent_type": "good"});
        let reply = host.call(tool, &given);
        let said = text(&reply);
        assert!(said.contains(why), "{dialect}: {said}");
        assert!(said.contains("Output so far:\nhalf of it"), "{dialect}: {said}");
        let data = &reply["structuredContent"];
        assert!(data["output"].as_str().unwrap().starts_with("half of it"), "{dialect}: {data}");
        let id = data["task_id"].as_str().unwrap();
        assert_eq!(world.status(id)["status"], "running", "{dialect}");
        world.mw(&["kill", id]).ok();
    }
}

/// The reply to the follow-up contains the notification of the earlier run.
#[test]
fn the_end_of_the_previous_run_does_not_make_a_follow_up_look_ended() {
    let world = World::new();
    for (dialect, tool, begin) in [
        (
            "canonical",
            "task_resume",
            ("agent", json!({"prompt": "say first", "agent": "good", "run_in_background": true})),
        ),
        (
            "background-task",
            "background_resume",
            ("background_task", json!({"description": "Try", "prompt": "say first", "agent": "good"})),
        ),
    ] {
        let mut host = world.host(dialect);
        let begun = host.call(begin.0, &begin.1);
        let id = begun["structuredContent"]["task_id"].as_str().unwrap().to_owned();
        // Only `mw` reads it, so that the end notification is not delivered yet.
        world.completed(&id);
        let reply = host.call(tool, &json!({"task_id": id, "message": "wait gate\nsay second"}));
        let said = text(&reply);
        assert!(!said.contains("already ended"), "{dialect}: {said}");
        let earlier = said.find("<result>first").unwrap_or_else(|| panic!("{dialect}: {said}"));
        let promise =
            said.to_lowercase().find("you get a notification").unwrap_or_else(|| panic!("{dialect}: {said}"));
        assert!(earlier < promise, "{dialect}: {said}");
        if dialect == "background-task" {
            assert_eq!(reply["structuredContent"]["resumeCount"], 1, "{reply}");
            assert_eq!(reply["structuredContent"]["status"], "resumed", "{reply}");
        }
        world.home.open("gate");
        world.completed(&id);
        assert_eq!(world.status(&id)["resume_count"], 1);
        std::fs::remove_file(world.home.work().join("gate")).unwrap();
    }
}
