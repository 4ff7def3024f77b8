//! The built-in agent, started by the driver, with a scripted model.

use mw_testkit::model_endpoint::{Answer, ModelEndpoint};
use mw_testkit::{SOON, wait_until};
use serde_json::json;

use crate::world::World;

#[test]
fn the_builtin_agent_answers_and_can_be_resumed() {
    let endpoint = ModelEndpoint::new();
    endpoint.otherwise(|_| Answer::text("hi there"));
    let world = World::with(|home| {
        home.with_env("OPENAI_BASE_URL", endpoint.openai_url())
            .with_env("OPENAI_API_KEY", "sk-test-0123456789")
            .with_env("MEANWHILE_AGENT_MODEL", "openai/scripted")
    });
    let id = world.ask_with(&["--agent", "mw"], "say hi");
    let task = world.completed(&id);
    assert_eq!(task["agent"]["answer"], "hi there", "{task}");
    world.resume(&id, "and again");
    let task = world.completed(&id);
    assert_eq!((&task["agent"]["answer"], &task["resume_count"]), (&"hi there".into(), &1.into()), "{task}");
    let asked = endpoint.requests().last().unwrap().body.to_string();
    assert!(asked.contains("say hi") && asked.contains("and again"), "the whole conversation: {asked}");
}

/// `recentTools` has the names of tools, not their arguments.
#[test]
fn recent_tools_of_the_builtin_agent_are_tool_names() {
    let endpoint = ModelEndpoint::new();
    endpoint.will(Answer::empty().call("shell", json!({"command": "echo one"})));
    endpoint
        .will(Answer::empty().call("shell", json!({"command": "while [ ! -e gate ]; do sleep 0.05; done"})));
    endpoint.otherwise(|_| Answer::text("done"));
    let world = World::with(|home| {
        home.with_env("OPENAI_BASE_URL", endpoint.openai_url())
            .with_env("OPENAI_API_KEY", "sk-test-0123456789")
            .with_env("MEANWHILE_AGENT_MODEL", "openai/scripted")
            .with_env("MEANWHILE_MODE", "dangerous")
    });
    let mut host = world.host("background-task");
    let given = json!({"description": "Try", "prompt": "look", "agent": "mw"});
    let task = host.call("background_task", &given)["structuredContent"]["task_id"].clone();
    let progress = wait_until(SOON, "it uses its second tool", || {
        let reply = host.call("background_output", &json!({"task_id": task}))["structuredContent"].clone();
        (reply["progress"]["toolCalls"] == 2).then(|| reply["progress"].clone())
    });
    assert_eq!(progress["recentTools"], json!(["shell", "shell"]), "{progress}");
    world.home.open("gate");
    let _ = host.call("background_block", &json!({"task_ids": [task]}));
}

/// The request stays open, and the next call uses a late approval.
#[test]
fn an_unanswered_request_of_the_builtin_agent_stays_open() {
    let endpoint = ModelEndpoint::new();
    let remove = || Answer::empty().call("shell", json!({"command": "rm -rf build"}));
    endpoint.will(remove()).will(Answer::text("it was not done"));
    endpoint.will(remove()).will(Answer::text("done"));
    let world = World::with(|home| {
        home.with_env("OPENAI_BASE_URL", endpoint.openai_url())
            .with_env("OPENAI_API_KEY", "sk-test-0123456789")
            .with_env("MEANWHILE_AGENT_MODEL", "openai/scripted")
            .with_env("MEANWHILE_APPROVAL_WAIT", "2s")
            .with_env("MEANWHILE_APPROVAL_KEEP", "10m")
    });
    std::fs::create_dir(world.work("build")).unwrap();
    let open = || world.home.mw(["approvals", "--json"]).json()["approvals"].as_array().unwrap().clone();
    let id = world.ask_with(&["--agent", "mw"], "remove it");
    let _ = world.until_activity(&id, "it waits for permission", |activity| activity["waiting"].is_string());
    assert_eq!(open().len(), 1, "one command, one request: {:?}", open());
    let _ = world.completed(&id);
    let heard = endpoint.requests().last().unwrap().last_text();
    assert!(heard.contains("nobody answered") && !heard.contains("denied by a person"), "{heard}");
    let notices = world.notices();
    assert!(!notices.is_empty(), "its end is notified");
    assert!(notices.iter().all(|notice| notice["news"] != "stalled"), "it no longer waits: {notices:?}");
    let left = open();
    assert_eq!(left.len(), 1, "{left:?}");
    world.home.mw(["approve", left[0]["id"].as_str().unwrap()]).ok();
    world.resume(&id, "again");
    assert_eq!(world.completed(&id)["agent"]["answer"], "done");
    assert!(!world.work("build").exists(), "the late approval was used");
    assert_eq!(open().len(), 0);
}

#[test]
fn a_request_of_the_builtin_agent_is_answered_once() {
    let endpoint = ModelEndpoint::new();
    endpoint.will(Answer::empty().call("shell", json!({"command": "rm -rf build"})));
    endpoint.otherwise(|_| Answer::text("done"));
    let world = World::with(|home| {
        home.with_env("OPENAI_BASE_URL", endpoint.openai_url())
            .with_env("OPENAI_API_KEY", "sk-test-0123456789")
            .with_env("MEANWHILE_AGENT_MODEL", "openai/scripted")
            .with_env("MEANWHILE_APPROVAL_WAIT", "10m")
            .with_env("MEANWHILE_APPROVAL_KEEP", "10m")
    });
    std::fs::create_dir(world.work("build")).unwrap();
    let open = || world.home.mw(["approvals", "--json"]).json()["approvals"].as_array().unwrap().clone();
    let id = world.ask_with(&["--agent", "mw"], "remove it");
    let _ = world.until_activity(&id, "it waits for permission", |activity| activity["waiting"].is_string());
    let question = open()[0]["id"].as_str().unwrap().to_owned();
    world.home.mw(["approve", &question]).ok();
    let _ = world.completed(&id);
    assert!(!world.work("build").exists());
    assert_eq!(open().len(), 0, "no request is left");
}
