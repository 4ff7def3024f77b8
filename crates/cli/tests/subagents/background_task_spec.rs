//! Every scenario of the background-task specification, by its name, through the tools of that dialect.

use std::fs;
use std::time::{Duration, Instant};

use mw_testkit::host::{Host, text};
use serde_json::{Value, json};

use crate::world::{SESSION, World};

/// Calls a tool that must succeed.
#[expect(clippy::needless_pass_by_value, reason = "calls are written with `json!` in place")]
#[track_caller]
fn done(host: &mut Host, tool: &str, given: Value) -> Value {
    let reply = host.call(tool, &given);
    assert_ne!(reply["isError"], true, "{reply}");
    reply["structuredContent"].clone()
}

#[expect(clippy::needless_pass_by_value, reason = "calls are written with `json!` in place")]
#[track_caller]
fn refused(host: &mut Host, tool: &str, given: Value) -> String {
    let reply = host.call(tool, &given);
    assert_eq!(reply["isError"], true, "{reply}");
    text(&reply)
}

#[track_caller]
fn launch(host: &mut Host, prompt: &str) -> String {
    let task =
        done(host, "background_task", json!({"description": "Try it", "prompt": prompt, "agent": "good"}));
    task["task_id"].as_str().unwrap().to_owned()
}

#[track_caller]
fn output(host: &mut Host, id: &str) -> Value {
    done(host, "background_output", json!({"task_id": id}))
}

#[track_caller]
fn block(host: &mut Host, ids: &[&str], timeout: u64) -> Value {
    done(host, "background_block", json!({"task_ids": ids, "timeout": timeout}))
}

/// Waits for an answer without delivering it to the host.
fn until_completed(world: &World, id: &str) {
    world.completed(id);
}

fn start() -> (World, Host) {
    let world = World::with_patience();
    let host = world.host("background-task");
    (world, host)
}

#[test]
fn launch_background_task() {
    let (world, mut host) = start();
    let given = json!({"description": "Wait", "prompt": "wait gate\nsay done", "agent": "good"});
    let begun = Instant::now();
    let reply = host.call("background_task", &given);
    let task = &reply["structuredContent"];
    assert_eq!(task["endsWithSession"], false, "{reply}");
    assert!(text(&reply).ends_with("\nIt keeps running when this session ends."), "{reply}");
    assert!(begun.elapsed() < Duration::from_secs(80), "the call does not wait for the task");
    assert_eq!(task["status"], "running");
    assert_eq!((&task["description"], &task["agent"]), (&"Wait".into(), &"good".into()));
    assert_eq!(task["parentSession"], SESSION);
    let other = done(&mut host, "background_task", given);
    assert_ne!(task["task_id"], other["task_id"]);
    world.home.open("gate");
}

#[test]
fn every_reply_has_the_parent_session_and_message() {
    let (world, mut host) = start();
    let given = json!({
        "description": "Try", "prompt": "say one", "agent": "good", "batch_id": "b", "parent_message": "msg-7",
    });
    let first = done(&mut host, "background_task", given);
    assert_eq!(
        (&first["parentSession"], &first["parentMessage"]),
        (&SESSION.into(), &"msg-7".into()),
        "{first}"
    );
    // A host sends it in the metadata of the call.
    let arguments = json!({"description": "Try", "prompt": "say two", "agent": "good", "batch_id": "b"});
    let call = host.ask(
        "tools/call",
        &json!({"name": "background_task", "arguments": arguments, "_meta": {"messageId": "msg-8"}}),
    );
    let second = host.answer(call)["result"]["structuredContent"].clone();
    assert_eq!(second["parentMessage"], "msg-8", "{second}");
    let ids = [first["task_id"].as_str().unwrap(), second["task_id"].as_str().unwrap()];
    let blocked = block(&mut host, &ids, 60_000);
    let batch = done(&mut host, "background_output", json!({"batch_id": "b"}));
    let one = output(&mut host, ids[0]);
    for task in [&blocked["tasks"][0], &blocked["tasks"][1], &batch["tasks"][0], &batch["tasks"][1], &one] {
        let message = if task["task_id"] == ids[0] { "msg-7" } else { "msg-8" };
        let parents = (&task["parentSession"], &task["parentMessage"], &task["agent"]);
        assert_eq!(parents, (&SESSION.into(), &message.into(), &"good".into()), "{task}");
    }
    drop(world);
}

/// The specification has five states, and notifications use no others.
#[test]
fn batch_notifications_use_the_five_states_only() {
    let (world, mut host) = start();
    for prompt in ["say one", "say two"] {
        let given = json!({"description": "Try", "prompt": prompt, "agent": "good", "batch_id": "b"});
        done(&mut host, "background_task", given);
    }
    let notices = mw_testkit::wait_until(mw_testkit::SOON, "the batch is notified", || {
        let reply = host.call("background_output", &json!({"batch_id": "none"}));
        let notices: Vec<_> = reply["structuredContent"]["notices"].as_array().cloned().unwrap_or_default();
        let text = notices.iter().map(|notice| notice.as_str().unwrap()).collect::<Vec<_>>().join("\n");
        text.contains("batch b").then_some(text)
    });
    assert!(notices.contains("\n<status>"), "{notices}");
    for line in notices.lines().filter(|line| line.starts_with("<status>")) {
        let word = line.trim_start_matches("<status>").trim_end_matches("</status>");
        assert!(["running", "completed", "error", "cancelled", "resumed"].contains(&word), "{notices}");
    }
    drop(world);
}

#[test]
fn track_task_completion() {
    let (world, mut host) = start();
    let id = launch(&mut host, "say the result");
    until_completed(&world, &id);
    let task = output(&mut host, &id);
    assert_eq!((&task["status"], &task["result"]), (&"completed".into(), &"the result".into()));
    assert!(task["completedAt"].is_string());
}

#[test]
fn handle_task_errors() {
    let (world, mut host) = start();
    let id = launch(&mut host, "say half\nerror the model is overloaded");
    world.home.ended(&id);
    let task = output(&mut host, &id);
    assert_eq!(task["status"], "error");
    let error = task["error"].as_str().unwrap();
    assert!(error.contains("the model is overloaded") && error.contains("half"), "{error}");
}

#[test]
fn cancel_running_tasks() {
    let (world, mut host) = start();
    let id = launch(&mut host, "say working\nhang");
    world.home.until_logged(&id, "working");
    let reply = done(&mut host, "background_cancel", json!({"task_id": id}));
    assert_eq!(reply["tasks"][0]["status"], "cancelled");
    assert!(world.home.user().join("agent-state/cancelled").exists(), "the agent got a cancel request");
}

#[test]
fn track_resumed_status() {
    let (world, mut host) = start();
    let id = launch(&mut host, "say first");
    until_completed(&world, &id);
    let reply =
        done(&mut host, "background_resume", json!({"task_id": id, "message": "wait gate\nsay second"}));
    assert_eq!(reply["status"], "resumed");
    assert_eq!(output(&mut host, &id)["status"], "resumed");
    world.home.open("gate");
    until_completed(&world, &id);
    assert_eq!(output(&mut host, &id)["status"], "completed");
}

#[test]
fn retrieve_completed_task_results() {
    let (world, mut host) = start();
    let id = launch(&mut host, "say the result");
    until_completed(&world, &id);
    let task = output(&mut host, &id);
    assert_eq!(task["result"], "the result");
    assert!(task["retrievedAt"].is_string());
}

#[test]
fn check_running_task_status() {
    let (world, mut host) = start();
    let id = launch(&mut host, "say so far\nwait gate");
    world.home.until_logged(&id, "so far");
    let task = output(&mut host, &id);
    assert_eq!(task["status"], "running");
    assert!(task["progress"]["output"].as_str().unwrap().contains("so far"), "{task}");
    world.home.open("gate");
}

#[test]
fn task_persistence() {
    let (world, mut host) = start();
    let id = launch(&mut host, "say kept");
    until_completed(&world, &id);
    for _ in 0..2 {
        assert_eq!(output(&mut host, &id)["result"], "kept");
    }
    let cleared = host.call("background_clear", &json!({"task_ids": [id]}));
    assert_eq!(cleared["structuredContent"]["cleared"], json!([id]), "{cleared}");
    assert!(text(&cleared).contains("Cleared 1 task."), "{cleared}");
    assert!(refused(&mut host, "background_output", json!({"task_id": id})).contains("not found"));
}

#[test]
fn monitor_task_progress() {
    let (world, mut host) = start();
    let id = launch(&mut host, "tool Read a.txt\ntool Edit b.txt\nwait gate");
    world.until_activity(&id, "two tools were used", |activity| activity["tool_calls"] == 2);
    let progress = output(&mut host, &id)["progress"].clone();
    assert_eq!(progress["toolCalls"], 2);
    assert_eq!(progress["recentTools"], json!(["Read a.txt", "Edit b.txt"]));
    assert!(progress["lastUpdate"].is_string(), "{progress}");
    world.home.open("gate");
}

#[test]
fn recent_tools_are_tool_names_if_the_agent_sends_them() {
    let (world, mut host) = start();
    let id = launch(&mut host, "named Read Look at a.txt\ntool Edit b.txt\nwait gate");
    world.until_activity(&id, "two tools were used", |activity| activity["tool_calls"] == 2);
    assert_eq!(output(&mut host, &id)["progress"]["recentTools"], json!(["Read", "Edit b.txt"]));
    world.home.open("gate");
}

#[test]
fn a_queued_task_has_agent_and_progress() {
    let world = World::with(|home| home.with_env("MEANWHILE_SUBAGENT_MAX_RUNNING", "1"));
    let mut host = world.host("background-task");
    launch(&mut host, "wait gate");
    let given = json!({"description": "Wait", "prompt": "say done", "agent": "good"});
    let queued = done(&mut host, "background_task", given);
    assert_eq!((&queued["queued"], &queued["agent"]), (&true.into(), &"good".into()), "{queued}");
    let queued_output = output(&mut host, queued["task_id"].as_str().unwrap());
    assert_eq!(
        (&queued_output["status"], &queued_output["agent"]),
        (&"running".into(), &"good".into()),
        "{queued_output}"
    );
    assert_eq!(queued_output["progress"]["toolCalls"], 0, "{queued_output}");
    world.home.open("gate");
}

/// The specification requires the full result.
#[test]
fn a_long_answer_is_returned_completely() {
    let (world, mut host) = start();
    let answer = "word ".repeat(4400) + "end";
    let id = launch(&mut host, &format!("say {answer}"));
    until_completed(&world, &id);
    assert_eq!(output(&mut host, &id)["result"], answer);
}

#[test]
fn group_related_tasks() {
    let (world, mut host) = start();
    let launch = |host: &mut Host| {
        let given = json!({"description": "One", "prompt": "hang", "agent": "good", "batch_id": "b7"});
        done(host, "background_task", given)
    };
    let tasks = [launch(&mut host), launch(&mut host)];
    assert!(tasks.iter().all(|task| task["batchId"] == "b7"));
    let listed = done(&mut host, "background_output", json!({"batch_id": "b7"}));
    assert_eq!(listed["tasks"].as_array().unwrap().len(), 2);
    let cancelled = done(&mut host, "background_cancel", json!({"batch_id": "b7"}));
    assert_eq!(cancelled["tasks"].as_array().unwrap().len(), 2);
    let blocked = done(&mut host, "background_block", json!({"batch_id": "b7"}));
    let blocked = blocked["tasks"].as_array().unwrap();
    assert!(blocked.len() == 2 && blocked.iter().all(|task| task["status"] == "cancelled"), "{blocked:?}");
    let cleared = done(&mut host, "background_clear", json!({"batch_id": "b7"}));
    assert_eq!(cleared["cleared"].as_array().unwrap().len(), 2);
    assert_eq!(world.home.list().len(), 0);
}

#[test]
fn resume_completed_task_with_follow_up_prompt() {
    let (world, mut host) = start();
    let id = launch(&mut host, "say one");
    until_completed(&world, &id);
    let begun = Instant::now();
    let reply = done(&mut host, "background_resume", json!({"task_id": id, "message": "wait gate\nhistory"}));
    assert!(begun.elapsed() < Duration::from_secs(80));
    assert_eq!(reply["task_id"], id);
    world.home.open("gate");
    until_completed(&world, &id);
    assert_eq!(output(&mut host, &id)["result"], "say one", "the agent has the whole conversation");
}

#[test]
fn resume_completion_notification() {
    let (world, mut host) = start();
    let id = launch(&mut host, "say one");
    until_completed(&world, &id);
    assert_eq!(world.notices().len(), 1);
    done(&mut host, "background_resume", json!({"task_id": id, "message": "say the response"}));
    until_completed(&world, &id);
    let notices = world.notices();
    assert_eq!(notices.len(), 1, "{notices:?}");
    assert_eq!((&notices[0]["result"], &notices[0]["run"]), (&"the response".into(), &2.into()));
    assert_eq!(world.status(&id)["status"], "completed");
}

#[test]
fn block_after_resume() {
    let (world, mut host) = start();
    let id = launch(&mut host, "say one");
    until_completed(&world, &id);
    done(&mut host, "background_resume", json!({"task_id": id, "message": "wait gate\nsay two"}));
    let early = block(&mut host, &[&id], 300);
    assert_eq!((&early["timed_out"], &early["tasks"][0]["status"]), (&true.into(), &"resumed".into()));
    world.home.open("gate");
    let reply = block(&mut host, &[&id], 80_000);
    assert_eq!((&reply["timed_out"], &reply["tasks"][0]["status"]), (&false.into(), &"completed".into()));
    assert_eq!(output(&mut host, &id)["result"], "two");
}

#[test]
fn reject_resume_of_non_completed_task() {
    let (world, mut host) = start();
    let id = launch(&mut host, "hang");
    let resume = |id: &str| json!({"task_id": id, "message": "go on"});
    let running = refused(&mut host, "background_resume", resume(&id));
    assert!(running.contains("only completed tasks can be resumed"), "{running}");
    done(&mut host, "background_cancel", json!({"task_id": id}));
    let cancelled = refused(&mut host, "background_resume", resume(&id));
    assert!(cancelled.contains("only completed tasks can be resumed"), "{cancelled}");
    // The wording of the specification.
    let failed = launch(&mut host, "die");
    block(&mut host, &[&failed], 80_000);
    let refusal = refused(&mut host, "background_resume", resume(&failed));
    assert!(refusal.starts_with(&format!("{failed} is error: only completed tasks")), "{refusal}");
    assert_eq!(world.status(&id)["runs"], 1);
}

#[test]
fn reject_concurrent_resume() {
    let (world, mut host) = start();
    let id = launch(&mut host, "say one");
    until_completed(&world, &id);
    done(&mut host, "background_resume", json!({"task_id": id, "message": "wait gate"}));
    let second = refused(&mut host, "background_resume", json!({"task_id": id, "message": "say two"}));
    assert!(second.contains("currently being resumed"), "{second}");
    world.home.open("gate");
    until_completed(&world, &id);
    assert_eq!(world.status(&id)["runs"], 2);
}

#[test]
fn handle_expired_session_on_resume() {
    let (world, mut host) = start();
    let id = launch(&mut host, "say one");
    until_completed(&world, &id);
    // The agent no longer has the session.
    for file in fs::read_dir(world.home.user().join("agent-state")).unwrap() {
        fs::remove_file(file.unwrap().path()).unwrap();
    }
    done(&mut host, "background_resume", json!({"task_id": id, "message": "say two"}));
    block(&mut host, &[&id], 80_000);
    let task = output(&mut host, &id);
    assert_eq!(task["status"], "completed", "the earlier answer is kept");
    let error = task["error"].as_str().unwrap();
    assert!(error.contains("session expired, start a new background_task"), "{error}");
    // Without a lingering agent, the call itself fails.
    fs::remove_file(world.home.task_dir(&id).join("agent.json")).unwrap();
    let error = refused(&mut host, "background_resume", json!({"task_id": id, "message": "say two"}));
    assert!(error.contains("session expired, start a new background_task"), "{error}");
}

#[test]
fn increment_resume_count() {
    let (world, mut host) = start();
    let id = launch(&mut host, "say one");
    until_completed(&world, &id);
    for count in 1..=2 {
        done(&mut host, "background_resume", json!({"task_id": id, "message": "say more"}));
        until_completed(&world, &id);
        assert_eq!(output(&mut host, &id)["resumeCount"], count);
    }
}

#[test]
fn initial_resume_count() {
    let (world, mut host) = start();
    let id = launch(&mut host, "say one");
    assert_eq!(output(&mut host, &id)["resumeCount"], 0);
    until_completed(&world, &id);
    assert_eq!(output(&mut host, &id)["resumeCount"], 0);
}

#[test]
fn block_until_tasks_complete() {
    let (world, mut host) = start();
    let over = launch(&mut host, "say one");
    until_completed(&world, &over);
    let later = launch(&mut host, "wait gate\nsay two");
    let call = host.begin("background_block", &json!({"task_ids": [over, later], "timeout": 80_000}));
    assert!(!host.has_answer(call, Duration::from_millis(300)), "the call waits for the second task");
    world.home.open("gate");
    let reply = host.answer(call)["result"]["structuredContent"].clone();
    let statuses: Vec<_> = reply["tasks"].as_array().unwrap().iter().map(|task| &task["status"]).collect();
    assert_eq!(statuses, ["completed", "completed"]);
}

#[test]
fn all_tasks_already_completed() {
    let (world, mut host) = start();
    let ids = [launch(&mut host, "say one"), launch(&mut host, "say two")];
    ids.iter().for_each(|id| until_completed(&world, id));
    let reply = block(&mut host, &[&ids[0], &ids[1]], 600_000);
    assert_eq!((&reply["timed_out"], &reply["tasks"][1]["status"]), (&false.into(), &"completed".into()));
}

#[test]
fn block_timeout_reached() {
    let (world, mut host) = start();
    let over = launch(&mut host, "say one");
    until_completed(&world, &over);
    let later = launch(&mut host, "wait gate");
    let reply = block(&mut host, &[&over, &later], 200);
    let statuses: Vec<_> = reply["tasks"].as_array().unwrap().iter().map(|task| &task["status"]).collect();
    assert_eq!(statuses, ["completed", "running"]);
    assert_eq!(reply["timed_out"], true);
    world.home.open("gate");
}

/// The end of the turn corresponds to `session.idle` in the specification.
#[test]
fn detect_completion_via_event() {
    let (world, mut host) = start();
    let id = launch(&mut host, "wait gate\nsay the full result");
    let call = host.begin("background_block", &json!({"task_ids": [id], "timeout": 80_000}));
    world.home.open("gate");
    let reply = host.answer(call)["result"]["structuredContent"].clone();
    assert_eq!(reply["tasks"][0]["status"], "completed");
    let other = launch(&mut host, "say notified");
    until_completed(&world, &other);
    let notices = world.notices();
    assert_eq!(notices.last().unwrap()["result"], "notified", "{notices:?}");
}

/// No event reports the end, because the driver is killed with the agent.
#[test]
fn fallback_to_polling() {
    let (world, mut host) = start();
    let id = launch(&mut host, "say working\nhang");
    world.home.until_logged(&id, "working");
    let call = host.begin("background_block", &json!({"task_ids": [id], "timeout": 80_000}));
    assert!(!host.has_answer(call, Duration::from_millis(100)));
    let driver = world.home.pid(&id);
    world.home.kill_supervisors(&id);
    world.home.kill_process(driver);
    let reply = host.answer(call)["result"]["structuredContent"].clone();
    assert_eq!(reply["tasks"][0]["status"], "error", "{reply}");
}
