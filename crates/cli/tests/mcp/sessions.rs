//! Sessions of MCP servers: how hosts identify themselves, and the resulting session.

use mw_testkit::host::{Host, text};
use mw_testkit::{Home, Invocation, SOON, children, wait_until};
use rustix::process::Signal;
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
fn a_session_set_by_the_user_takes_precedence_over_hosts() {
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
fn codex_and_goose_name_their_session_in_every_call() {
    let home = home();
    let mut host = Host::of(server(&home));
    let meta = json!({"sessionId": "s1", "threadId": "t1", "callId": "c1", "progressToken": 0});
    assert_eq!(session_of(&home, &mut host, &meta), "codex:s1");
    assert_eq!(session_of(&home, &mut host, &json!({"threadId": "t2"})), "codex:t2");
    assert_eq!(session_of(&home, &mut host, &json!({"agent-session-id": "g"})), "goose:g");
}

#[test]
fn a_host_without_a_session_id_uses_its_project() {
    let home = home();
    let place = home.work();
    let mut host = Host::of(server(&home));
    assert_eq!(session_of(&home, &mut host, &json!({})), format!("project:{}", place.display()));
    let mut host = Host::of(server(&home).env("CLAUDE_PROJECT_DIR", "/usr"));
    assert_eq!(session_of(&home, &mut host, &json!({})), "project:/usr");
}

#[test]
fn unusual_session_ids_of_a_host_are_accepted_or_ignored() {
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
    let _ = one.server.wait(SOON);
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

/// Receives notifications for a while; returns their tasks.
fn notified_within(host: &mut Host, count: usize) -> Vec<String> {
    let mut notified = Vec::new();
    wait_until(SOON, "all notifications are delivered", || {
        notified.extend(host.notifications());
        (notified.len() >= count).then_some(())
    });
    notified.extend(host.notifications());
    notified
}

#[test]
fn two_agents_in_one_project_get_notifications_of_their_own_tasks() {
    let home = home();
    let (mut one, mut other) = (Host::of(server(&home)), Host::of(server(&home)));
    let gated = children::gated("go", 3);
    let (mine, theirs) = (one.start(&gated), other.start(&gated));
    home.open("go");
    home.ended(&mine);
    home.ended(&theirs);
    assert_eq!(notified_within(&mut other, 1), std::slice::from_ref(&theirs));
    assert_eq!(notified_within(&mut one, 1), std::slice::from_ref(&mine));
    // A clear by one agent does not remove unread tasks of the other.
    let cleared = one.call("task_clear", &json!({}));
    assert_eq!(cleared["structuredContent"]["removed"], json!([mine]), "{cleared}");
    assert_eq!(other.call("task_output", &json!({"task_id": theirs}))["isError"], false);
}

#[test]
fn tasks_of_a_killed_server_are_notified_by_the_next() {
    let home = home();
    let (mut one, mut other) = (Host::of(server(&home)), Host::of(server(&home)));
    let mine = one.start(&children::gated("go", 3));
    one.server.signal(Signal::KILL);
    let _ = one.server.wait(SOON);
    home.open("go");
    home.ended(&mine);
    assert_eq!(notified_within(&mut other, 1), std::slice::from_ref(&mine));
    let cleared = other.call("task_clear", &json!({}));
    assert_eq!(cleared["structuredContent"]["removed"], json!([mine]), "{cleared}");
}

#[test]
fn a_wait_without_ids_waits_for_the_tasks_that_the_same_server_started() {
    let home = home();
    let (mut one, mut other) = (Host::of(server(&home)), Host::of(server(&home)));
    let nothing = one.call("task_wait", &json!({}));
    assert!(text(&nothing).contains("You have no running tasks"), "{nothing}");
    let _ = other.start(children::SLEEPER);
    let first = one.start(&children::gated("go", 3));
    let script = "while [ ! -e go ]; do sleep 0.02; done; echo 'test result: ok. 7 passed; 0 failed'";
    let second = one.start(&format!("{script}; sleep 0.5"));
    home.open("go");
    let waited = one.call("task_wait", &json!({"timeout": 20_000}));
    assert_eq!(waited["structuredContent"]["timed_out"], false, "{waited}");
    let said = text(&waited);
    // A task that ended before the wait is in a notification before the reply.
    assert!(said.contains(&first) && said.contains("exited 3"), "{said}");
    assert!(said.contains(&format!("{second} completed")) && said.contains("7 passed"), "{said}");
    assert_eq!(one.notifications(), Vec::<String>::new(), "ends reported by a wait are not repeated");
}
