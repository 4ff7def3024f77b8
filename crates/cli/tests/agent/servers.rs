//! MCP servers that a client configures for a session.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use mw_testkit::model_endpoint::{Answer, ModelEndpoint};
use mw_testkit::{Home, SOON};
use serde_json::{Value, json};

use crate::editor::Editor;
use crate::home;

fn with_servers(home: &Home, servers: &Value) -> (Editor, Value) {
    let mut editor = Editor::greeting(home.command(["acp"]), &json!({}));
    let opened =
        editor.ask("session/new", &json!({"cwd": home.work(), "mcpServers": servers}))["result"].clone();
    editor.session = opened["sessionId"].as_str().unwrap_or_else(|| panic!("{opened}")).to_owned();
    (editor, opened)
}

#[test]
fn a_configured_meanwhile_server_adds_no_tools_and_sets_the_session() {
    let endpoint = ModelEndpoint::new();
    let home = home(&endpoint);
    let own = json!([{"name": "mw", "command": env!("CARGO_BIN_EXE_mw"), "args": ["mcp"],
        "env": [{"name": "MEANWHILE_SESSION", "value": "child-of-mine"}]}]);
    let (mut editor, _) = with_servers(&home, &own);
    let call = json!({"command": "sleep 600", "run_in_background": true});
    endpoint.will(Answer::empty().call("shell", call)).will(Answer::text("started"));
    editor.turn("start");
    let tools = endpoint.request(0).tools();
    assert_eq!(tools.iter().filter(|name| name.contains("shell")).count(), 1, "{tools:?}");
    let tasks = home.command(["list", "--json"]).session("child-of-mine").run().json();
    assert_eq!(tasks["total"], 1, "{tasks}");
}

#[test]
fn tools_of_another_server_have_its_name_as_prefix_and_need_approval() {
    let endpoint = ModelEndpoint::new();
    let home = home(&endpoint);
    // A server that is not recognised as meanwhile: another name, other tools, and no policy.
    let script = home.user().join("server");
    fs::write(
        &script,
        format!("#!/bin/sh\nMEANWHILE_MODE=dangerous exec {} mcp --dialect opta\n", env!("CARGO_BIN_EXE_mw")),
    )
    .unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let (mut editor, _) =
        with_servers(&home, &json!([{"name": "my tools", "command": script, "args": [], "env": []}]));
    let start = json!({"command": "echo hello"});
    endpoint.will(Answer::empty().call("my_tools__bg_start", start).call("my_tools__bg_status", json!({})));
    endpoint.will(Answer::text("done"));
    let id = editor.begin("start");
    let question = editor.permit("allow");
    assert!(question["toolCall"].to_string().contains("its effects are unknown"), "{question}");
    let turn = editor.end(id);
    let states: Vec<_> = turn.results().into_iter().map(|(status, _)| status).collect();
    assert_eq!(states, ["completed", "completed"], "{:?}", turn.results());
    assert!(endpoint.request(1).says("echo hello"), "{}", endpoint.request(1).body);
    editor.host.server.close();
    assert_eq!(editor.host.server.wait(SOON), Some(0));
}

#[test]
fn an_unusable_server_is_named_and_the_session_opens() {
    let endpoint = ModelEndpoint::new();
    let home = home(&endpoint);
    let servers = json!([
        {"name": "absent", "command": "/no/such/server", "args": [], "env": []},
        {"name": "mute", "command": "/bin/true", "args": [], "env": []},
        {"type": "http", "name": "remote", "url": "http://127.0.0.1:1/", "headers": []},
    ]);
    let (mut editor, opened) = with_servers(&home, &servers);
    let missing = opened["_meta"]["meanwhile"]["missing_servers"].to_string();
    for name in ["absent", "mute", "remote"] {
        assert!(missing.contains(name), "{name}: {missing}");
    }
    editor.until_stderr("absent");
    endpoint.will(Answer::text("fine"));
    assert_eq!(editor.turn("work").said(), "fine");
}
