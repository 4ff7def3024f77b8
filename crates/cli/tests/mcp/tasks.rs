//! The Tasks extension: a foreground command becomes a protocol task, whose state outlives the server.

use mw_testkit::host::{Host, notified_tasks};
use mw_testkit::{Home, SOON, alive, children, wait_until};
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::home;
use crate::tolerance::modern;

fn with_tasks() -> Value {
    modern(&json!({"io.modelcontextprotocol/tasks": {}}))
}

fn silent(home: &Home) -> Host {
    Host::silent(home.command(["mcp"]).session("host"))
}

fn shell(host: &mut Host, script: &str, meta: &Value) -> Value {
    let params = json!({"name": "shell", "arguments": {"command": script}, "_meta": meta});
    let id = host.ask("tools/call", &params);
    host.answer(id)["result"].clone()
}

fn query(host: &mut Host, method: &str, task: &Value) -> Value {
    let id = host.ask(method, &json!({"taskId": task, "_meta": with_tasks()}));
    host.answer(id)
}

#[test]
fn a_long_command_becomes_a_protocol_task_with_a_later_result() {
    let home = home();
    let mut host = silent(&home);
    let created = shell(&mut host, &format!("echo one; {}", children::gated("go", 3)), &with_tasks());
    assert_eq!(created["resultType"], "task", "{created}");
    let task = created["taskId"].clone();
    let state = query(&mut host, "tasks/get", &task);
    assert_eq!(state["result"]["status"], "working", "{state}");
    home.open("go");
    let done = wait_until(SOON, "the task has ended", || {
        let state = query(&mut host, "tasks/get", &task)["result"].clone();
        (state["status"] != "working").then_some(state)
    });
    assert_eq!(done["status"], "completed", "{done}");
    assert_eq!(done["result"]["structuredContent"]["exit_code"], 3, "{done}");
    assert_eq!(notified_tasks(&done["result"]), Vec::<String>::new(), "the result reports it");
    let again = query(&mut host, "tasks/get", &task);
    assert_eq!(again["result"]["status"], "completed", "the result can be read again: {again}");
}

#[test]
fn a_short_command_is_answered_at_once() {
    let home = home();
    let mut host = silent(&home);
    // On a busy machine even this may take long enough to become a task.
    let result = wait_until(SOON, "a command that was quick", || {
        Some(shell(&mut host, "echo quick", &with_tasks())).filter(|result| result.get("taskId").is_none())
    });
    assert_eq!(result["structuredContent"]["output"], "quick\n", "{result}");
}

#[test]
fn a_protocol_task_survives_a_killed_server() {
    let home = home();
    let mut host = silent(&home);
    let task = shell(&mut host, &children::gated("go", 3), &with_tasks())["taskId"].clone();
    assert_eq!(query(&mut host, "tasks/get", &task)["result"]["status"], "working");
    host.server.signal(Signal::KILL);
    let _ = host.server.wait(SOON);
    let mut host = silent(&home);
    assert_eq!(query(&mut host, "tasks/get", &task)["result"]["status"], "working");
    host.server.signal_group(Signal::KILL);
    let _ = host.server.wait(SOON);
    home.open("go");
    home.ended(task.as_str().unwrap());
    let mut host = silent(&home);
    let done = query(&mut host, "tasks/get", &task)["result"].clone();
    assert_eq!(done["status"], "completed", "{done}");
    assert_eq!(done["result"]["structuredContent"]["exit_code"], 3, "{done}");
}

#[test]
fn a_cancelled_protocol_task_is_killed_with_its_process_tree() {
    let home = home();
    let mut host = silent(&home);
    let script = format!("{}\nexec sleep 600", children::leave_setsid("kid"));
    let task = shell(&mut host, &script, &with_tasks())["taskId"].clone();
    let kid = home.pid_in("kid");
    let ended = query(&mut host, "tasks/cancel", &task);
    assert!(ended.get("result").is_some(), "{ended}");
    wait_until(SOON, "all are dead", || (!alive(kid)).then_some(()));
    assert_eq!(query(&mut host, "tasks/get", &task)["result"]["status"], "cancelled");
    for method in ["tasks/get", "tasks/cancel"] {
        let unknown = query(&mut host, method, &json!("bash-00000000"));
        assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
    }
}

#[test]
fn a_client_of_an_older_revision_that_declares_tasks_gets_a_plain_result() {
    let home = home();
    let mut host = silent(&home);
    let hello = json!({
        "protocolVersion": "2025-11-25", "clientInfo": {"name": "inspector", "version": "2"},
        "capabilities": {
            "extensions": {"io.modelcontextprotocol/tasks": {}}, "tasks": {"list": {}},
            "experimental": {"meanwhile/structured": {}},
        },
    });
    let id = host.ask("initialize", &hello);
    let _ = host.answer(id);
    let result = shell(&mut host, "sleep 2.5; echo plain", &json!({}));
    assert!(result.get("taskId").is_none(), "{result}");
    assert_eq!(result["structuredContent"]["output"], "plain\n", "{result}");
}

#[test]
fn a_client_without_protocol_tasks_gets_a_plain_result() {
    let home = home();
    let mut host = silent(&home);
    let result = shell(&mut host, "sleep 2.5; echo plain", &modern(&json!({})));
    assert_eq!(result["structuredContent"]["output"], "plain\n", "{result}");
}
