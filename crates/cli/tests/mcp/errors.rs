//! Structured errors: data in addition to the text, in the format of each dialect, and valid by the schema
//! that the tool has announced.

use mw_testkit::Home;
use mw_testkit::host::{Host, text};
use serde_json::{Value, json};

use crate::home;

fn host(home: &Home, dialect: &str) -> Host {
    Host::of(home.command(["mcp", "--dialect", dialect]).session("host"))
}

/// If the replies of the source are objects, every client gets them; other dialects reply with text.
#[test]
fn structured_replies_follow_the_source_of_the_dialect() {
    let home = home();
    for (dialect, tool, has_data) in [
        ("mycode", "TaskOutput", true),
        ("background-task", "background_output", true),
        ("co-cli", "check_task_status", true),
        ("zidane", "shell_kill", false),
    ] {
        let mut host = Host::silent(home.command(["mcp", "--dialect", dialect]).session("host"));
        let hello = json!({
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "plain", "version": "1"},
        });
        let id = host.ask("initialize", &hello);
        host.answer(id);
        host.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        let result = host.call(tool, &json!({"task_id": "bash-zzzzzzzz"}));
        assert_eq!(result["isError"], true, "{result}");
        assert_eq!(result["structuredContent"].is_object(), has_data, "{dialect}: {result}");
    }
}

/// Calls a tool that must refuse, and checks the reply against its schema.
#[track_caller]
fn refused(host: &mut Host, tool: &str, given: &Value) -> Value {
    let listing = host.ask("tools/list", &json!({}));
    let listed = host.answer(listing)["result"]["tools"].clone();
    let spec = listed.as_array().unwrap().iter().find(|spec| spec["name"] == tool).unwrap().clone();
    let result = host.call(tool, given);
    assert_eq!(result["isError"], true, "{result}");
    let data = result["structuredContent"].as_object().unwrap_or_else(|| panic!("no data: {result}"));
    for (name, value) in data {
        let kinds = &spec["outputSchema"]["properties"][name]["type"];
        let kind = match value {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Number(number) if number.is_f64() => "number",
            Value::Number(_) => "integer",
            Value::String(_) => "string",
            Value::Array(_) => "array",
            Value::Object(_) => "object",
        };
        let fits = match kinds {
            Value::Null => true,
            Value::String(only) => only == kind,
            several => several.as_array().unwrap().iter().any(|one| one == kind),
        };
        assert!(fits, "{tool}: {name} = {value} is no {kinds}");
    }
    result
}

#[test]
fn a_reserved_variable_is_refused_without_an_approval_request() {
    let home = home().gated();
    let mut host = Host::of(home.command(["mcp"]).session("host"));
    for background in [false, true] {
        let given = json!({
            "command": "rm -rf \"$MEANWHILE_PROGRESS_FD/x\"", "env": {"MEANWHILE_PROGRESS_FD": "sub"},
            "run_in_background": background,
        });
        let result = host.call("shell", &given);
        assert_eq!(result["isError"], true, "{result}");
        assert!(text(&result).contains("MEANWHILE_PROGRESS_FD cannot be set for a task"), "{result}");
    }
    assert_eq!(home.mw(["approvals", "--history", "--json"]).json()["approvals"], json!([]));
}

#[test]
fn mycode_reports_an_unknown_id_as_its_source_does() {
    let home = home();
    let mut host = host(&home, "mycode");
    for (tool, given) in [
        ("TaskOutput", json!({"task_id": "bash-zzzzzzzz"})),
        ("KillShell", json!({"shell_id": "bash-zzzzzzzz"})),
    ] {
        let result = refused(&mut host, tool, &given);
        let wanted = json!({
            "success": false, "task_id": "bash-zzzzzzzz", "status": "error", "error": "Task not found",
        });
        assert_eq!(result["structuredContent"], wanted);
        assert_eq!(text(&result), "Task not found");
    }
    let missing = refused(&mut host, "TaskOutput", &json!({}));
    assert_eq!(missing["structuredContent"]["success"], false, "{missing}");
    assert!(missing["structuredContent"]["error"].as_str().unwrap().contains("task_id"), "{missing}");
}

#[test]
fn every_refusal_of_co_cli_has_a_display() {
    let home = home();
    let mut host = host(&home, "co-cli");
    let id = "task_20260209_143022_pytest";
    for (tool, given, display) in [
        ("check_task_status", json!({"task_id": id}), format!("Task {id} not found.")),
        ("cancel_background_task", json!({"task_id": id}), format!("Task {id} not found.")),
        ("start_background_task", json!({"command": "true"}), "description is missing.".to_owned()),
    ] {
        let result = refused(&mut host, tool, &given);
        assert_eq!(result["structuredContent"]["display"], display, "{result}");
        assert_eq!(result["structuredContent"]["error"], display, "{result}");
    }
}

#[test]
fn text_and_structured_errors_of_other_dialects_agree() {
    let home = home();
    for (dialect, tool, given) in [
        ("zidane", "shell_kill", json!({"task_id": "bash_7"})),
        ("background-task", "background_output", json!({"task_id": "bash-zzzzzzzz"})),
        ("background-task", "background_block", json!({})),
        ("opta", "bg_kill", json!({"id": "zzzzzzzz"})),
        ("opta", "bg_output", json!({"id": "zzzzzzzz"})),
    ] {
        let result = refused(&mut host(&home, dialect), tool, &given);
        assert_eq!(result["structuredContent"]["error"], text(&result), "{dialect}: {result}");
    }
    let result = refused(&mut host(&home, "canonical"), "task_output", &json!({"task_id": "bash-zzzzzzzz"}));
    assert_eq!(result["structuredContent"]["error"]["code"], "not_found", "{result}");
}

/// This refusal happens before the home is opened.
#[test]
fn too_large_arguments_are_refused_in_the_format_of_the_dialect() {
    let home = home();
    let given = json!({"task_id": "x".repeat(2 << 20)});
    let result = refused(&mut host(&home, "mycode"), "TaskOutput", &given);
    assert_eq!(result["structuredContent"]["success"], false, "{result}");
    assert!(text(&result).contains("at most"), "{result}");
    let result = refused(&mut host(&home, "co-cli"), "check_task_status", &given);
    assert!(result["structuredContent"]["display"].is_string(), "{result}");
}
