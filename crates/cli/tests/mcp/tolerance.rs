//! Messages of real hosts that a strict server would reject.

use mw_testkit::host::{Host, text};
use mw_testkit::{SOON, children};
use serde_json::{Value, json};

use crate::home;

/// Returns the metadata of a request of the current revision.
pub(crate) fn modern(extensions: &Value) -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {"extensions": extensions},
        "meanwhile/structured": true,
    })
}

#[test]
fn a_host_can_send_discover_before_initialize() {
    let home = home();
    let mut host = Host::silent(home.command(["mcp"]));
    let id = host.ask("server/discover", &json!({"_meta": modern(&json!({}))}));
    let found = host.answer(id);
    assert!(found["result"]["supportedVersions"].to_string().contains("2026-07-28"), "{found}");
    assert_eq!(host.greet("2025-11-25")["protocolVersion"], "2025-11-25");
    assert!(text(&host.call("task_list", &json!({}))).contains("No tasks"));
}

#[test]
fn a_discover_without_a_version_is_refused_and_initialize_still_works() {
    let home = home();
    let mut host = Host::silent(home.command(["mcp"]));
    let id = host.ask("server/discover", &json!({}));
    let answer = host.answer(id);
    assert!(answer.get("error").is_some(), "refused, but answered: {answer}");
    assert_eq!(host.greet("2025-06-18")["protocolVersion"], "2025-06-18");
}

#[test]
fn every_revision_is_supported() {
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let home = home();
        let mut host = Host::silent(home.command(["mcp"]));
        assert_eq!(host.greet(version)["protocolVersion"], version);
        let listed = host.call("task_list", &json!({}));
        assert_eq!(listed["isError"], false, "{listed}");
    }
    let home = home();
    let mut host = Host::silent(home.command(["mcp"]));
    let params = json!({"name": "task_list", "arguments": {}, "_meta": modern(&json!({}))});
    let id = host.ask("tools/call", &params);
    assert_eq!(host.answer(id)["result"]["isError"], false);
}

#[test]
fn messages_before_initialize_do_not_end_the_server() {
    let home = home();
    let mut host = Host::silent(home.command(["mcp"]));
    for early in [
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 9}}),
        json!({"jsonrpc": "2.0", "id": 5, "result": {}}),
        json!({"jsonrpc": "2.0", "method": "made/up"}),
        json!("hello"),
    ] {
        host.send(&early);
    }
    let id = host.ask("tools/list", &json!({}));
    assert!(host.answer(id).get("error").is_some(), "the client is not initialized");
    let id = host.ask("ping", &json!({}));
    assert!(host.answer(id).get("result").is_some());
    assert_eq!(host.greet("2025-11-25")["protocolVersion"], "2025-11-25");
}

#[test]
fn a_cancellation_after_the_result_is_ignored() {
    let home = home();
    let mut host = Host::new(&home);
    let call = host.begin("shell", &json!({"command": children::gated("go", 3), "run_in_background": true}));
    let answer = host.answer(call);
    let task = answer["result"]["structuredContent"]["task_id"].as_str().unwrap().to_owned();
    let cancelled = json!({"jsonrpc": "2.0", "method": "notifications/cancelled",
        "params": {"requestId": call, "reason": "AbortError: The operation was aborted."}});
    for _ in 0..3 {
        host.send(&cancelled);
    }
    let listed = host.call("task_list", &json!({}));
    assert_eq!(listed["structuredContent"]["tasks"][0]["status"], "running", "{listed}");
    home.open("go");
    assert_eq!(home.ended(&task)["exit_code"], 3);
    assert_eq!(host.all_notifications(1), [task]);
}

#[test]
fn numbers_as_strings_nulls_and_unknown_fields_are_accepted() {
    let home = home();
    let mut host = Host::new(&home);
    let arguments = json!({
        "command": "echo fine", "run_in_background": "false", "timeout": "60000", "description": null,
        "cwd": null, "env": null, "pty": null, "made_up": {"deep": [1, 2]},
    });
    let result = host.call("shell", &arguments);
    assert!(text(&result).contains("fine"), "{result}");
    let id = host.start("seq 1 50");
    home.ended(&id);
    let arguments = json!({"task_id": id, "lines": "3", "offset": null, "pattern": null, "stream": null});
    let result = host.call("task_output", &arguments);
    assert!(text(&result).contains("48\n49\n50"), "{result}");
    let params = json!({"name": "task_list", "arguments": null, "extra": 1, "_meta": {"odd": {"x": []}}});
    let id = host.ask("tools/call", &params);
    assert_eq!(host.answer(id)["result"]["isError"], false);
    let id = host.ask("tools/call", &json!({"name": "task_list"}));
    assert_eq!(host.answer(id)["result"]["isError"], false);
}

#[test]
fn the_error_for_an_unknown_tool_lists_the_known_tools() {
    let home = home();
    let mut host = Host::new(&home);
    let id = host.begin("no_such_tool", &json!({}));
    let answer = host.answer(id);
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(message.contains("no_such_tool") && message.contains("task_wait"), "{answer}");
    let id = host.ask("made/up", &json!({}));
    assert_eq!(host.answer(id)["error"]["code"], -32601);
}

#[test]
fn arguments_of_four_megabytes_are_refused_with_a_reply() {
    let home = home();
    let mut host = Host::new(&home);
    let result = host.call("shell", &json!({"command": format!("echo {}", "x".repeat(4 << 20))}));
    assert_eq!(result["isError"], true);
    assert!(text(&result).contains("put the text into a file"), "{}", text(&result));
    assert_eq!(home.list().len(), 0, "nothing was started");
    assert!(text(&host.call("shell", &json!({"command": "echo on"}))).contains("on"));
}

#[test]
fn a_too_long_message_is_refused_and_the_next_is_read() {
    let home = home();
    let mut host = Host::new(&home);
    let id =
        host.ask("tools/call", &json!({"name": "shell", "arguments": {"command": "y".repeat(20 << 20)}}));
    let refused = host.until("a refusal", |message| message.get("error").is_some());
    assert!(refused["error"]["message"].as_str().unwrap().contains("longer than"), "{refused}");
    assert!(!host.has_answer(id, std::time::Duration::ZERO));
    assert!(text(&host.call("shell", &json!({"command": "echo on"}))).contains("on"));
}

#[test]
fn the_messages_of_a_batch_are_answered_separately() {
    let home = home();
    let mut host = Host::new(&home);
    let one = |id: i64| json!({"jsonrpc": "2.0", "id": id, "method": "ping"});
    host.send(&json!([one(71), one(72), {"jsonrpc": "2.0", "method": "notifications/made-up"}]));
    let _ = (host.answer(71), host.answer(72));
    host.send(&json!([]));
    let refused = host.until("a refusal", |message| message.get("error").is_some());
    assert_eq!(refused["error"]["code"], -32600, "{refused}");
}

#[test]
fn an_invalid_call_is_refused_with_its_id() {
    let home = home();
    let mut host = Host::new(&home);
    for params in [
        json!({"name": 7}),
        json!({"name": "shell", "arguments": "echo"}),
        json!([1, 2]),
        json!({"arguments": {}}),
    ] {
        let id = host.ask("tools/call", &params);
        let answer = host.answer(id);
        assert!(answer.get("error").is_some(), "{params}: {answer}");
    }
    let result = host.call("shell", &json!({}));
    assert_eq!(result["isError"], true);
    assert!(text(&result).contains("command"), "{result}");
    host.server.close();
    let _ = host.server.wait(SOON);
}
