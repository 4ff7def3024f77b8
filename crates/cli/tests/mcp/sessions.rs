//! Whose tasks they are: what hosts tell a server of themselves, and what it makes of that.

use mw_testkit::host::Host;
use mw_testkit::{Home, Invocation, children};
use serde_json::{Value, json};

use crate::home;

fn server(home: &Home) -> Invocation {
    home.command(["mcp"]).without("MEANWHILE_SESSION")
}

/// Starts a task with this `_meta`; returns its session.
fn session_of(home: &Home, host: &mut Host, meta: &Value) -> String {
    let arguments = json!({"command": children::SLEEPER, "run_in_background": true});
    let id = host.ask("tools/call", &json!({"name": "shell", "arguments": arguments, "_meta": meta}));
    let answer = host.answer(id);
    let task = answer["result"]["structuredContent"]["task_id"].as_str().unwrap();
    home.status(task)["session"].as_str().unwrap().to_owned()
}

#[test]
fn the_users_word_outranks_every_host() {
    let home = home();
    let mut host =
        Host::of(server(&home).env("CLAUDE_CODE_SESSION_ID", "abc").env("MEANWHILE_SESSION", "mine"));
    assert_eq!(session_of(&home, &mut host, &json!({})), "mine");
    assert_eq!(session_of(&home, &mut host, &json!({"sessionId": "s1", "threadId": "t1"})), "mine");
}

#[test]
fn claude_code_names_its_session_in_the_environment() {
    let home = home();
    let mut host = Host::of(server(&home).env("CLAUDE_CODE_SESSION_ID", "4f2"));
    let meta = json!({"claudecode/toolUseId": "toolu_1", "progressToken": 1});
    assert_eq!(session_of(&home, &mut host, &meta), "claude-code:4f2");
}

#[test]
fn codex_names_its_session_in_every_call() {
    let home = home();
    let mut host = Host::of(server(&home));
    let meta = json!({"sessionId": "s1", "threadId": "t1", "callId": "c1", "progressToken": 0});
    assert_eq!(session_of(&home, &mut host, &meta), "codex:s1");
    assert_eq!(session_of(&home, &mut host, &json!({"threadId": "t2"})), "codex:t2");
    assert_eq!(session_of(&home, &mut host, &json!({"agent-session-id": "g"})), "goose:g");
}

#[test]
fn a_host_that_tells_nothing_is_known_by_its_project() {
    let home = home();
    let place = home.work();
    let mut host = Host::of(server(&home));
    assert_eq!(session_of(&home, &mut host, &json!({})), format!("project:{}", place.display()));
    let mut host = Host::of(server(&home).env("CLAUDE_PROJECT_DIR", "/usr"));
    assert_eq!(session_of(&home, &mut host, &json!({})), "project:/usr");
}

#[test]
fn odd_words_of_a_host_make_a_session_all_the_same() {
    let home = home();
    let mut host = Host::of(server(&home));
    for id in ["", "a b\nc", &"x".repeat(5000), "../../etc", "\u{0}"] {
        let session = session_of(&home, &mut host, &json!({"sessionId": id}));
        assert!(session.starts_with("codex:"), "{session:?}");
    }
    for odd in [json!(7), json!(null), json!({"a": 1}), json!(["s"])] {
        let session = session_of(&home, &mut host, &json!({"sessionId": odd}));
        assert!(session.starts_with("project:"), "{session:?}");
    }
}

#[test]
fn a_restarted_server_finds_its_tasks_and_no_others() {
    let home = home();
    let claude = |id: &str| Host::of(server(&home).env("CLAUDE_CODE_SESSION_ID", id));
    let (mut one, mut other) = (claude("one"), claude("other"));
    let (mine, theirs) = (one.start(children::SLEEPER), other.start(children::SLEEPER));
    one.server.close();
    let _ = one.server.wait(mw_testkit::SOON);
    let mut one = claude("one");
    let listed = one.call("task_list", &json!({}));
    assert_eq!(listed["structuredContent"]["total"], 1, "{listed}");
    assert_eq!(listed["structuredContent"]["tasks"][0]["task_id"], mine.as_str());
    for (tool, arguments) in [
        ("task_output", json!({"task_id": theirs})),
        ("task_stop", json!({"task_ids": [theirs]})),
        ("task_input", json!({"task_id": theirs, "text": "x"})),
    ] {
        let result = one.call(tool, &arguments);
        assert_eq!(result["isError"], true, "{tool}: {result}");
    }
    let waited = one.call("task_wait", &json!({"task_ids": [theirs]}));
    assert_eq!(waited["structuredContent"]["not_found"][0], theirs.as_str(), "{waited}");
    let id = one.ask("resources/read", &json!({"uri": format!("meanwhile://tasks/{theirs}")}));
    assert!(one.answer(id).get("error").is_some());
    assert_eq!(home.status(&theirs)["status"], "running");
}
