//! Starting an agent, and the record of its work.

use std::fs;

use serde_json::Value;

use crate::world::{SESSION, World};

#[test]
fn the_answer_is_the_result_and_the_steps_are_in_the_log() {
    let world = World::new();
    let id = world.ask("think let me see\nsay First I look.\ntool Read a.txt\nsay It is 42.");
    assert!(id.starts_with("agent-"), "{id}");
    let task = world.completed(&id);
    assert_eq!(task["kind"], "agent");
    assert_eq!(task["agent"]["name"], "good");
    assert_eq!(task["agent"]["info"], "scripted 1.0");
    assert_eq!(task["agent"]["answer"], "It is 42.", "earlier text is not the answer");
    assert_eq!(task["resume_count"], 0);
    let log = String::from_utf8(world.home.log(&id)).unwrap();
    assert_eq!(log, "(thinks) let me see\nFirst I look.\n→ Read a.txt\nIt is 42.\n\n", "{log}");
    let notices = world.notices();
    assert_eq!(notices.len(), 1, "{notices:?}");
    assert_eq!(notices[0]["result"], "It is 42.");
    assert_eq!(world.notices().len(), 0);
}

#[test]
fn prompt_and_agent_are_kept_with_the_task() {
    let world = World::new();
    let id = world.answered("say ok");
    let spec = fs::read(world.home.task_dir(&id).join("spec.json")).unwrap();
    let agent = &serde_json::from_slice::<Value>(&spec).unwrap()["agent"];
    assert_eq!((&agent["name"], &agent["prompt"]), (&"good".into(), &"say ok".into()));
    let record = world.record(&id);
    assert_eq!(record["turns"][0]["prompt"], "say ok");
    assert_eq!(record["turns"][0]["answer"], "ok");
    let lines = fs::read_to_string(world.home.task_dir(&id).join("transcript.jsonl")).unwrap();
    let kinds: Vec<_> = lines
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["update"]["sessionUpdate"].clone())
        .collect();
    assert_eq!(kinds, ["agent_message_chunk"]);
}

#[test]
fn plan_tools_tokens_and_cost_are_reported_as_progress() {
    let world = World::new();
    let prompt = "plan look:completed,write:in_progress\ntool Read a\ntool Read b\nusage 120 0.25\nwait gate\nsay done";
    let id = world.ask(prompt);
    let task =
        world.until_activity(&id, "it has reported its cost", |activity| activity["cost"] != Value::Null);
    let activity = &task["agent"]["activity"];
    assert_eq!(activity["tool_calls"], 2);
    assert_eq!(activity["recent_tools"][1]["title"], "Read b");
    assert_eq!(activity["recent_tools"][1]["status"], "completed");
    assert_eq!(activity["tokens"], 120);
    assert_eq!(activity["cost"], "0.25 USD");
    assert!(activity["last_update"].is_string());
    assert_eq!(task["progress"]["percent"], 50.0);
    assert_eq!(task["progress"]["text"], "2 tool calls, write");
    world.home.open("gate");
    assert_eq!(world.completed(&id)["agent"]["answer"], "done");
}

#[test]
fn the_agent_has_its_session_depth_and_directory() {
    let world = World::new();
    let id = world.answered("run echo $MEANWHILE_SESSION $MEANWHILE_DEPTH; pwd");
    let answer = world.status(&id)["agent"]["answer"].as_str().unwrap().to_owned();
    assert_eq!(answer, format!("{id} 1\n{}", world.home.work().display()));
}

#[test]
fn background_tasks_of_an_agent_pass_to_its_owner() {
    let world = World::new();
    let start = r#"mcp shell {"command": "sleep 600", "run_in_background": true}"#;
    let id = world.answered(start);
    let answer = world.status(&id)["agent"]["answer"].as_str().unwrap().to_owned();
    let started: Value = serde_json::from_str(&answer).unwrap();
    let left = world.status(started["task_id"].as_str().unwrap());
    assert_eq!((&left["status"], &left["session"]), (&"running".into(), &SESSION.into()), "{left}");
}

#[test]
fn an_agent_reads_and_writes_files_inside_the_project_only() {
    let world = World::new();
    fs::write(world.work("in.txt"), "inside").unwrap();
    let (inside, new, outside) = (world.work("in.txt"), world.work("new.txt"), world.home.user().join("x"));
    fs::write(&outside, "secret").unwrap();
    let prompt = format!(
        "read {}\nwrite {} fresh\nread {}\nwrite {} broken",
        inside.display(),
        new.display(),
        outside.display(),
        outside.display()
    );
    let id = world.answered(&prompt);
    let answer = world.status(&id)["agent"]["answer"].as_str().unwrap().to_owned();
    assert!(answer.starts_with("read: inside\nwrite: ok\nread: refused\nwrite: refused"), "{answer}");
    assert_eq!(fs::read_to_string(new).unwrap(), "fresh");
    assert_eq!(fs::read_to_string(outside).unwrap(), "secret");
}

#[test]
fn a_terminal_is_a_task_of_the_agents_session() {
    let world = World::new();
    let id = world.answered("term echo out; exit 3");
    assert_eq!(world.status(&id)["agent"]["answer"], "terminal: 3 out");
    let tasks = world.home.list();
    let terminal = tasks.iter().find(|task| task["kind"] == "shell").unwrap();
    assert_eq!((&terminal["session"], &terminal["exit_code"]), (&id.as_str().into(), &3.into()));
    assert_eq!(world.notices().len(), 1, "the owner is not notified of the agent's tasks");
}

#[test]
fn the_agent_list_says_which_agents_work_and_why_others_do_not() {
    let world = World::new();
    let reply = world.mw(&["agent", "--list", "--json"]).json();
    let agents = reply["agents"].as_array().unwrap();
    let of = |name: &str| agents.iter().find(|agent| agent["name"] == name).unwrap();
    assert_eq!((&of("good")["works"], &of("good")["info"]), (&true.into(), &"scripted 1.0".into()));
    assert_eq!((&of("good")["can_load"], &of("forgetful")["can_load"]), (&true.into(), &false.into()));
    assert_eq!(of("absent")["works"], false);
    assert!(of("absent")["error"].as_str().unwrap().contains("exit status: 3"), "{}", of("absent"));
    assert!(of("newer")["error"].as_str().unwrap().contains("version"), "{}", of("newer"));
    let text = world.mw(&["agent", "--list"]).text();
    assert!(text.contains("works: scripted 1.0; can be resumed"), "{text}");
}

#[test]
fn an_unknown_agent_and_an_empty_prompt_are_refused() {
    let world = World::new();
    let unknown = world.mw(&["agent", "--agent", "nobody", "--json", "hi"]);
    assert_eq!(unknown.code, Some(2), "{unknown}");
    assert!(unknown.json()["error"]["hint"].as_str().unwrap().contains("good"), "{unknown}");
    assert_eq!(world.mw(&["agent", "--agent", "good", " "]).code, Some(2));
    assert_eq!(world.home.list().len(), 0);
}

#[test]
fn a_mode_is_set_before_the_prompt() {
    let world = World::new();
    let id = world.ask_with(&["--agent", "good", "--agent-mode", "plan"], "mode");
    assert_eq!(world.completed(&id)["agent"]["answer"], "plan");
}

#[test]
fn a_project_cannot_configure_agents() {
    let world = World::new();
    fs::write(world.work(".meanwhile.toml"), "[agents.evil]\ncommand = \"touch ran\"\n").unwrap();
    let outcome = world.mw(&["list"]);
    assert_eq!(outcome.code, Some(2), "{outcome}");
    assert!(outcome.to_string().contains("may not set agents"), "{outcome}");
}
