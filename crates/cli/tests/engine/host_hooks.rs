//! `mw hook`: notifications through the hooks of a host, each once, and never a failure for the host.

use std::collections::BTreeSet;
use std::fs;
use std::thread;

use mw_testkit::{Home, Outcome, SOON, children, wait_until};
use serde_json::{Value, json};

use crate::home;

const SESSION: &str = "claude-code:s1";
const FAIL_AT: &str = "MEANWHILE_FAIL_AT";

fn call(event: &str) -> Value {
    json!({"session_id": "s1", "transcript_path": "/x", "cwd": "/", "hook_event_name": event, "stop_hook_active": false})
}

fn ask_as(home: &Home, host: &str, call: &Value) -> Outcome {
    // A hook that takes too long delivers nothing. On a busy machine any hook may take too long, so it is
    // called again.
    let done = wait_until(SOON, "a hook that finishes in time", || {
        let done = home.command(["hook", host]).input(call.to_string()).run();
        (!done.stderr_text().contains("no notifications delivered: the hook took longer")).then_some(done)
    });
    assert_eq!(done.code, Some(0), "{done}");
    done
}

/// Returns the reply; null if there is none.
fn ask(home: &Home, call: &Value) -> Value {
    let done = ask_as(home, "claude-code", call);
    assert_eq!(done.stderr_text(), "", "{done}");
    if done.stdout.is_empty() { Value::Null } else { done.json() }
}

fn ended(home: &Home, session: &str, script: &str) -> String {
    let started = home.command(["start", "--json", script]).session(session).run().json();
    let id = started["id"].as_str().unwrap().to_owned();
    let _ = home.mw(["wait", &id]);
    id
}

#[test]
fn prompt_and_tool_hooks_deliver_notifications_once() {
    for event in ["UserPromptSubmit", "PostToolUse", "SessionStart"] {
        let home = home();
        let id = ended(&home, SESSION, "exit 3");
        let answer = ask(&home, &call(event));
        assert_eq!(answer["hookSpecificOutput"]["hookEventName"], event);
        let text = answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
        assert!(text.contains("<exit-code>3</exit-code>") && text.contains(&id), "{text}");
        assert_eq!(answer.get("decision"), None, "{answer}");
        assert_eq!(ask(&home, &call(event)), Value::Null);
    }
}

#[test]
fn a_stop_hook_continues_the_agent_once_for_each_ended_task() {
    let home = home();
    ended(&home, SESSION, "exit 1");
    let answer = ask(&home, &call("Stop"));
    // A decision to block would be shown twice.
    assert_eq!(answer.get("decision"), None, "{answer}");
    let text = answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
    assert!(text.starts_with("Before you stop") && text.contains("<exit-code>1</exit-code>"), "{answer}");
    assert_eq!(ask(&home, &call("Stop")), Value::Null);
    // The hook already continued the agent: later notifications wait for the next prompt.
    ended(&home, SESSION, "exit 2");
    let mut again = call("Stop");
    again["stop_hook_active"] = true.into();
    for _ in 0..3 {
        assert_eq!(ask(&home, &again), Value::Null);
    }
    assert!(ask(&home, &call("UserPromptSubmit")).to_string().contains("<exit-code>2</exit-code>"));
}

#[test]
fn a_stop_hook_lets_the_agent_stop_while_tasks_run() {
    let home = home();
    home.command(["start", &children::gated("go", 0)]).session(SESSION).run().ok();
    assert_eq!(ask(&home, &call("Stop")), Value::Null);
}

#[test]
fn hooks_deliver_only_to_the_agent_that_owns_the_tasks() {
    let home = home();
    ended(&home, SESSION, "exit 1");
    let mut other = call("UserPromptSubmit");
    other["session_id"] = "s2".into();
    assert_eq!(ask(&home, &other), Value::Null);
    let mut sub = call("PostToolUse");
    sub["agent_id"] = "a7".into();
    assert_eq!(ask(&home, &sub), Value::Null);
    assert_eq!(ask(&home, &call("SubagentStop")), Value::Null);
    assert_ne!(ask(&home, &call("PostToolUse")), Value::Null);
    ended(&home, "mine", "exit 1");
    let mine = home.command(["hook", "claude-code"]).session("mine").input(call("Stop").to_string()).run();
    assert!(mine.json()["hookSpecificOutput"].is_object(), "{mine}");
}

#[test]
fn a_renamed_session_gets_notifications_of_its_mcp_server() {
    let home = home();
    let mw = env!("CARGO_BIN_EXE_mw");
    fs::write(home.work().join("call"), call("Stop").to_string()).unwrap();
    // The server keeps the session it was started with.
    let server = format!(
        "{mw} session run claude-code:before -- sh -c '{mw} run \"exit 7\"; : > ended; exec sleep 600'"
    );
    let wait = "while [ ! -e ended ]; do sleep 0.02; done";
    // A program in between is another host, but a shell is not.
    let script = format!(
        "{server} > gone 2>&1 & {wait}; timeout 20 {mw} hook claude-code < call; echo =; {mw} hook claude-code < call; kill $!"
    );
    let done = home.program("sh").arg("-c").arg(script).run();
    let (stranger, own) = done.text().split_once("=\n").map(|(a, b)| (a.to_owned(), b.to_owned())).unwrap();
    assert_eq!(stranger, "", "{done}");
    assert!(own.contains("<exit-code>7</exit-code>"), "{done}");
}

#[test]
fn hooks_of_codex_and_gemini_have_their_reply_formats() {
    let home = home();
    ended(&home, "codex:s1", "exit 1");
    assert_eq!(ask_as(&home, "codex", &call("Stop")).json()["decision"], "block");
    let project = format!("project:{}", home.work().display());
    ended(&home, &project, "exit 4");
    let mut stop = call("AfterAgent");
    stop["cwd"] = home.work().to_str().unwrap().into();
    assert!(ask_as(&home, "gemini", &stop).json()["reason"].as_str().unwrap().contains("exited 4"));
    ended(&home, &project, "exit 5");
    let mut prompt = call("BeforeAgent");
    prompt["cwd"] = home.work().to_str().unwrap().into();
    let answer = ask_as(&home, "gemini", &prompt).json();
    assert_eq!(answer["hookSpecificOutput"]["hookEventName"], "BeforeAgent", "{answer}");
}

#[test]
fn notifications_of_a_hook_killed_before_acknowledgement_are_repeated_once() {
    let home = home();
    let id = ended(&home, SESSION, "exit 1");
    let dying = |at: &str| {
        home.command(["hook", "claude-code"]).input(call("Stop").to_string()).env(FAIL_AT, at).run()
    };
    let killed = dying("notices-handed-over");
    assert_eq!((killed.code, killed.text().as_str()), (None, ""), "{killed}");
    let killed = dying("notices-told");
    assert_eq!(killed.code, None, "{killed}");
    assert!(killed.text().contains(&id), "the reply was complete: {killed}");
    assert!(ask(&home, &call("Stop")).to_string().contains(&id));
    assert_eq!(ask(&home, &call("Stop")), Value::Null);
    let id = ended(&home, SESSION, "exit 1");
    let killed = dying("notices-acknowledged");
    assert!(killed.code.is_none() && killed.text().contains(&id), "{killed}");
    assert_eq!(ask(&home, &call("Stop")), Value::Null);
}

#[test]
fn notifications_that_do_not_fit_come_in_later_replies() {
    let home = home();
    let long = "x".repeat(300);
    let ids: BTreeSet<_> = (0..24).map(|_| ended(&home, SESSION, &format!(": {long}; exit 1"))).collect();
    let mut delivered = Vec::new();
    let mut answers = 0;
    loop {
        let answer = ask(&home, &call("PostToolUse"));
        let Some(text) = answer["hookSpecificOutput"]["additionalContext"].as_str() else { break };
        assert!(text.len() < 10_000, "{}", text.len());
        delivered.extend(ids.iter().filter(|id| text.contains(id.as_str())).cloned());
        answers += 1;
    }
    assert!(answers > 1, "one reply has all notifications");
    assert_eq!(delivered.len(), ids.len(), "no notification is repeated or lost");
}

#[test]
fn concurrent_hooks_deliver_each_notification_once() {
    let home = home();
    let ids: Vec<_> = (0..6).map(|_| ended(&home, SESSION, "exit 1")).collect();
    let answers = thread::scope(|scope| {
        let all: Vec<_> =
            (0..4).map(|_| scope.spawn(|| ask(&home, &call("PostToolUse")).to_string())).collect();
        all.into_iter().map(|one| one.join().unwrap()).collect::<String>()
    });
    let rest = ask(&home, &call("PostToolUse")).to_string();
    for id in ids {
        let block = format!("<task-id>{id}</task-id>");
        assert_eq!((answers.clone() + &rest).matches(&block).count(), 1, "{id}");
    }
}

#[test]
fn a_failing_hook_never_blocks_its_host() {
    let home = home();
    for garbage in ["", "{", "[]", "null", "{\"hook_event_name\":1}", "\u{0}\u{1}"] {
        let done = home.command(["hook", "claude-code"]).input(garbage).run();
        assert_eq!((done.code, done.text().as_str()), (Some(0), ""), "{done}");
        assert!(done.stderr_text().starts_with("mw hook: "), "{done}");
    }
    ended(&home, SESSION, "exit 1");
    let config = home.work().join("broken.toml");
    fs::write(&config, "nonsense = [").unwrap();
    let ask = || home.command(["hook", "claude-code"]).input(call("Stop").to_string());
    for (name, value) in [
        ("MEANWHILE_CONFIG", config.to_str().unwrap()),
        ("MEANWHILE_HOME", "/proc/self/status"),
        ("MEANWHILE_SESSION", "a\u{1}b"),
    ] {
        let done = ask().env(name, value).run();
        assert_eq!((done.code, done.text().as_str()), (Some(0), ""), "{name}: {done}");
        assert!(done.stderr_text().contains("mw"), "{name}: {done}");
    }
    fs::remove_file(home.state().join("meanwhile.db-wal")).unwrap();
    fs::write(home.state().join("meanwhile.db"), "this is no database, and long enough to be looked at")
        .unwrap();
    // The database is set aside, and the notification comes from the task directory.
    let done = ask().run();
    assert_eq!(done.code, Some(0), "{done}");
    assert!(done.text().contains("<status>failed</status>"), "{done}");
}

#[test]
fn a_hook_times_out_and_creates_no_home() {
    let home = home();
    // The hook opens the pipe for writing too, so it never reaches the end of its input.
    let script = format!("mkfifo endless; exec {} hook claude-code 0<>endless", env!("CARGO_BIN_EXE_mw"));
    let started = std::time::Instant::now();
    let hanging = home.program("sh").arg("-c").arg(script).run();
    assert_eq!(hanging.code, Some(0), "{hanging}");
    assert!(hanging.stderr_text().contains("longer than"), "{hanging}");
    assert!(started.elapsed().as_secs() < 120);
    assert_eq!(ask(&home, &call("Stop")), Value::Null);
    assert!(!home.state().exists());
}

#[test]
fn hosts_without_hooks_are_refused_with_a_non_blocking_exit_code() {
    let home = home();
    for words in [&["hook", "--json", "zed"][..], &["hook", "--json", "nobody"]] {
        let error = home.mw(words).refusal(1);
        assert!(error["hint"].as_str().unwrap().contains("claude-code"), "{error}");
    }
    assert_eq!(home.mw(["hook"]).code, Some(1));
    assert_eq!(home.mw(["hook", "claude-code", "--nonsense"]).code, Some(1));
}

/// Prepares a hook that waits in the background of a host and wakes its agent.
fn waker(home: &Home, entrypoint: &str) -> mw_testkit::Invocation {
    let hook = home.command(["hook", "claude-code", "--wake"]).input(call("Stop").to_string());
    hook.env("CLAUDE_CODE_ENTRYPOINT", entrypoint)
}

#[test]
fn an_idle_agent_is_woken_with_each_notification_once() {
    let home = home();
    let script = children::gated("go", 3);
    let started = home.command(["start", "--json", &script]).session(SESSION).run().json();
    let id = started["id"].as_str().unwrap().to_owned();
    let waiting = waker(&home, "cli").spawn();
    let file = home.state().join("sessions");
    wait_until(SOON, "the hook waits", || {
        let mut sessions = fs::read_dir(&file).unwrap().flatten();
        sessions.any(|session| session.path().join("waker").exists()).then_some(())
    });
    // One waiting hook is enough, and a hook of a host that cannot be woken does not wait.
    assert_eq!(waker(&home, "cli").run().code, Some(0));
    assert_eq!(waker(&home, "sdk-cli").run().code, Some(0));
    assert!(waiting.runs());
    home.open("go");
    let woken = waiting.wait();
    assert_eq!(woken.code, Some(2), "{woken}");
    let said = String::from_utf8_lossy(&woken.stderr).into_owned();
    assert!(said.contains("<exit-code>3</exit-code>") && said.contains(&id), "{said}");
    assert_eq!(ask(&home, &call("UserPromptSubmit")), Value::Null, "the notification was delivered");
    // No task runs, so the hook does not wait.
    assert_eq!(waker(&home, "cli").run().code, Some(0));
}
