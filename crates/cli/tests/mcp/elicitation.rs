//! Approval requests through elicitation.

use std::fs;
use std::time::{Duration, Instant};

use mw_testkit::host::{Host, text};
use mw_testkit::{Home, SOON, wait_until};
use serde_json::{Value, json};

/// Creates a home whose working directory is a project, with the default approval mode.
fn project() -> Home {
    let home = crate::home().gated();
    fs::create_dir(home.work().join(".git")).unwrap();
    fs::write(home.work().join("precious"), "x").unwrap();
    home
}

/// Starts a host of the common revision with these capabilities.
fn host(home: &Home, capabilities: &Value) -> Host {
    let mut host = Host::silent(home.command(["mcp"]).session("host"));
    let mut capabilities = capabilities.clone();
    capabilities["experimental"] = json!({"meanwhile/structured": {}});
    let hello = json!({
        "protocolVersion": "2025-11-25", "capabilities": capabilities,
        "clientInfo": {"name": "test", "version": "1"},
    });
    let id = host.ask("initialize", &hello);
    let _ = host.answer(id);
    host.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    host
}

/// Calls a tool that needs approval; returns the call and the elicitation.
fn asked(host: &mut Host, script: &str) -> (i64, Value) {
    let call = host.begin("shell", &json!({"command": script}));
    let question = host.until("an elicitation", |message| message["method"] == "elicitation/create");
    (call, question)
}

fn reply(host: &mut Host, question: &Value, result: &Value) {
    host.send(&json!({"jsonrpc": "2.0", "id": question["id"], "result": result}));
}

/// Answers as a person does: not before the request can have been read.
fn reply_as_a_person(host: &mut Host, question: &Value, result: &Value) {
    read_it();
    reply(host, question, result);
}

/// Waits until a person can have read a new request.
fn read_it() {
    let put = Instant::now();
    wait_until(SOON, "a person can have read it", || {
        (put.elapsed() > Duration::from_millis(700)).then_some(())
    });
}

/// Returns the ids of open requests.
fn open(home: &Home) -> Vec<String> {
    let open = home.mw(["approvals", "--json"]).json();
    let id = |one: &Value| one["id"].as_str().unwrap().to_owned();
    open["approvals"].as_array().unwrap().iter().map(id).collect()
}

fn history(home: &Home) -> Vec<Value> {
    home.mw(["approvals", "--history", "--json"]).json()["approvals"].as_array().unwrap().clone()
}

#[test]
fn a_call_that_needs_approval_asks_by_elicitation() {
    let home = project();
    let mut host = host(&home, &json!({"elicitation": {}}));
    let (call, question) = asked(&mut host, "rm precious");
    let shown = question["params"]["message"].as_str().unwrap();
    // Dialogs show only the first lines until they are expanded.
    let lines: Vec<&str> = shown.lines().collect();
    assert!(lines[0].starts_with("Run it? deletes precious"), "{shown}");
    assert!(lines[1] == "  rm precious" && lines[2].is_empty() && lines[3].starts_with("in "), "{shown}");
    assert_eq!(question["params"]["requestedSchema"]["properties"]["for_session"]["type"], "boolean");
    assert!(home.has_file("precious"));
    reply(&mut host, &question, &json!({"action": "accept", "content": {}}));
    let answer = host.answer(call);
    assert_eq!(answer["result"]["isError"], false, "{answer}");
    assert!(!home.has_file("precious"));
    assert_eq!(history(&home)[0]["answered_by"], "the agent's host");
    // The approval covered one call.
    let (call, question) = asked(&mut host, "rm precious");
    reply_as_a_person(&mut host, &question, &json!({"action": "decline"}));
    let answer = host.answer(call);
    assert_eq!(answer["result"]["isError"], true);
    let reply_text = text(&answer["result"]);
    assert!(reply_text.contains("denied by a person") && reply_text.contains("mw approve ask-"), "{answer}");
    // The same command is not asked about again at once, but a person can still approve it.
    fs::write(home.work().join("precious"), "x").unwrap();
    let again = host.call("shell", &json!({"command": "rm precious"}));
    assert!(text(&again).contains("denied by a person"), "{again}");
    let id = history(&home)[0]["id"].as_str().unwrap().to_owned();
    home.mw(["approve", &id]).ok();
    assert_eq!(host.call("shell", &json!({"command": "rm precious"}))["isError"], false);
    assert!(!home.has_file("precious"));
}

#[test]
fn an_automatic_decline_of_a_host_is_no_answer() {
    let home = project().with_env("MEANWHILE_APPROVAL_WAIT", "50ms");
    let mut host = host(&home, &json!({"elicitation": {}}));
    for (at, action) in ["decline", "cancel"].into_iter().enumerate() {
        let script = format!("rm -f precious # {at}");
        let (call, question) = asked(&mut host, &script);
        reply(&mut host, &question, &json!({"action": action}));
        let reply_text = text(&host.answer(call)["result"]);
        assert!(
            reply_text.contains("nobody answered") && reply_text.contains("mw approve ask-"),
            "{action}: {reply_text}"
        );
        assert!(!reply_text.contains("denied by a person"), "{action}: {reply_text}");
        assert!(home.has_file("precious"));
        // The request stays open: the next call asks again, and any front end can answer.
        let (call, question) = asked(&mut host, &script);
        let ids = open(&home);
        assert_eq!(ids.len(), 1, "{ids:?}");
        reply(&mut host, &question, &json!({"action": action}));
        assert_eq!(host.answer(call)["result"]["isError"], true);
        home.mw(["approve", &ids[0]]).ok();
        let done = host.call("shell", &json!({"command": script}));
        assert_eq!(done["isError"], false, "{done}");
        assert!(!home.has_file("precious"));
        fs::write(home.work().join("precious"), "x").unwrap();
    }
}

#[test]
fn a_closed_dialog_leaves_the_request_open() {
    // A closed dialog returns at once.
    let home = project().with_env("MEANWHILE_APPROVAL_WAIT", "10m");
    let mut host = host(&home, &json!({"elicitation": {}}));
    let (call, question) = asked(&mut host, "rm precious");
    reply_as_a_person(&mut host, &question, &json!({"action": "cancel"}));
    let reply_text = text(&host.answer(call)["result"]);
    assert!(
        reply_text.contains("closed without an answer") && !reply_text.contains("denied by a person"),
        "{reply_text}"
    );
    assert_eq!(open(&home).len(), 1);
    let (call, question) = asked(&mut host, "rm precious");
    reply(&mut host, &question, &json!({"action": "accept", "content": {}}));
    assert_eq!(host.answer(call)["result"]["isError"], false);
}

#[test]
fn a_decline_of_a_host_does_not_revoke_an_approval() {
    let home = project();
    let mut host = host(&home, &json!({"elicitation": {}}));
    let (call, question) = asked(&mut host, "rm precious");
    read_it();
    home.mw(["approve", &open(&home)[0]]).ok();
    reply(&mut host, &question, &json!({"action": "decline"}));
    let answer = host.answer(call);
    assert_eq!(answer["result"]["isError"], false, "{answer}");
    assert_eq!(history(&home)[0]["answered_by"], "mw approve");
}

#[test]
fn only_an_accept_action_approves() {
    let home = project();
    let mut host = host(&home, &json!({"elicitation": {"form": {}}}));
    for (at, result) in [
        json!({"action": "decline"}),
        json!({"action": "cancel"}),
        json!({"action": "something new", "content": {"for_session": true}}),
        json!({}),
    ]
    .into_iter()
    .enumerate()
    {
        let (call, question) = asked(&mut host, &format!("rm precious # {at}"));
        reply_as_a_person(&mut host, &question, &result);
        if at >= 2 {
            // An invalid answer is ignored; the call waits for another, and its host gives up.
            host.send(&json!({
                "jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": call},
            }));
            continue;
        }
        assert_eq!(host.answer(call)["result"]["isError"], true);
    }
    assert!(home.has_file("precious") && home.list().is_empty());
}

#[test]
fn an_approval_for_the_session_is_requested_once() {
    let home = project();
    let mut host = host(&home, &json!({"elicitation": {}}));
    let (call, question) = asked(&mut host, "rm -f precious");
    reply(&mut host, &question, &json!({"action": "accept", "content": {"for_session": true}}));
    assert_eq!(host.answer(call)["result"]["isError"], false);
    let again = host.call("shell", &json!({"command": "rm -f precious"}));
    assert_eq!(again["isError"], false, "{again}");
}

#[test]
fn an_answer_from_a_terminal_ends_the_elicitation() {
    let home = project();
    let mut host = host(&home, &json!({"elicitation": {}}));
    let (call, _) = asked(&mut host, "rm precious");
    let open = home.mw(["approvals", "--json"]).json();
    home.mw(["approve", open["approvals"][0]["id"].as_str().unwrap()]).ok();
    assert_eq!(host.answer(call)["result"]["isError"], false);
    assert!(!home.has_file("precious"));
}

#[test]
fn a_host_without_elicitation_gets_a_reply_with_a_next_step() {
    let home = project().with_env("MEANWHILE_APPROVAL_WAIT", "50ms");
    let mut host = host(&home, &json!({}));
    for background in [false, true] {
        let arguments = json!({"command": "rm precious", "run_in_background": background});
        let refused = host.call("shell", &arguments);
        assert_eq!(refused["isError"], true);
        let reply_text = text(&refused);
        assert!(
            reply_text.contains("approval required") && reply_text.contains("mw approve ask-"),
            "{reply_text}"
        );
    }
    assert!(home.has_file("precious") && home.list().is_empty());
    let open = home.mw(["approvals", "--json"]).json();
    home.mw(["approve", open["approvals"][0]["id"].as_str().unwrap()]).ok();
    // The same command in the foreground uses the approval.
    let done = host.call("shell", &json!({"command": "rm precious"}));
    assert_eq!(done["isError"], false, "{done}");
}

#[test]
fn input_needs_approval_and_reading_does_not() {
    let home = project().with_env("MEANWHILE_APPROVAL_WAIT", "50ms");
    let mut host = host(&home, &json!({}));
    let id = host.start("cat; sleep 600");
    assert_eq!(host.call("task_output", &json!({"task_id": id}))["isError"], false);
    assert_eq!(host.call("task_list", &json!({}))["isError"], false);
    let refused = host.call("task_input", &json!({"task_id": id, "text": "x"}));
    assert!(text(&refused).contains("approval required"), "{refused}");
    assert_eq!(host.call("task_stop", &json!({"task_ids": [id]}))["isError"], false);
}

#[test]
fn a_host_of_the_current_revision_gets_the_request_in_the_reply() {
    let home = project();
    let mut host = Host::silent(home.command(["mcp"]).session("host"));
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}},
    });
    let mut params = json!({"name": "shell", "arguments": {"command": "rm precious"}, "_meta": meta});
    let id = host.ask("tools/call", &params);
    let answer = host.answer(id)["result"].clone();
    assert_eq!(answer["resultType"], "input_required", "{answer}");
    let requests = answer["inputRequests"].as_object().unwrap();
    let (key, request) = requests.iter().next().unwrap();
    assert_eq!(request["method"], "elicitation/create", "{answer}");
    assert!(request["params"]["message"].as_str().unwrap().contains("rm precious"));
    assert!(home.has_file("precious"));
    // An automatic answer of the host ends the call, and the request stays open.
    params["inputResponses"] = json!({key: {"action": "decline"}});
    let id = host.ask("tools/call", &params);
    let id = match host.answer(id)["result"].clone() {
        refused if refused["isError"] == true => {
            assert!(text(&refused).contains("closed without an answer"), "{refused}");
            host.ask(
                "tools/call",
                &json!({
                    "name": "shell", "arguments": {"command": "rm precious"}, "_meta": params["_meta"],
                }),
            )
        }
        other => panic!("{other}"),
    };
    assert_eq!(host.answer(id)["result"]["resultType"], "input_required");
    // The answer comes with the same call; with another call it approves only the original request.
    let mut other = params.clone();
    other["arguments"]["command"] = "rm -f precious".into();
    other["inputResponses"] = json!({key: {"action": "accept", "content": {}}});
    let id = host.ask("tools/call", &other);
    assert_eq!(host.answer(id)["result"]["resultType"], "input_required");
    assert!(home.has_file("precious"));
    params["inputResponses"] = json!({key: {"action": "accept", "content": {}}});
    let id = host.ask("tools/call", &params);
    let done = host.answer(id);
    assert_eq!(done["result"]["isError"], false, "{done}");
    wait_until(SOON, "the command has run", || (!home.has_file("precious")).then_some(()));
}
