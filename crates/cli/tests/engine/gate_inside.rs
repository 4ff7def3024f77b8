//! A task cannot escape the policy of its session.

use std::fs;

use mw_testkit::{Home, children};
use serde_json::{Value, json};

use crate::approval::{SESSION, asked, project, project_without_kernel};

#[test]
fn changing_the_environment_does_not_leave_the_enclosing_session() {
    let home = project();
    let mw = env!("CARGO_BIN_EXE_mw");
    let elsewhere = home.command(["start", "--json", "exit 3"]).session("other").run().json();
    let elsewhere = elsewhere["id"].as_str().unwrap().to_owned();
    let _ = home.ended(&elsewhere);
    let bare = "env -i PATH=\"$PATH\" HOME=\"$HOME\" MEANWHILE_HOME=\"$MEANWHILE_HOME\" MEANWHILE_APPROVAL_WAIT=50ms";
    let script = format!(
        "{bare} {mw} start 'rm precious'; echo bare $?; \
         {bare} MEANWHILE_SESSION=other {mw} start 'rm precious'; echo other $?; \
         {bare} setsid {mw} start 'rm precious'; echo apart $?; \
         {bare} {mw} notices --session other; echo notices $?; \
         {bare} MEANWHILE_SESSION=other {mw} notices; echo own $?; \
         {bare} {mw} start --json 'exit 0'; {bare} {mw} list --all; echo all over"
    );
    let started =
        home.command(["start", "--json", &script]).session(SESSION).env("MEANWHILE_MODE", "dangerous").run();
    let task = started.json()["id"].as_str().unwrap().to_owned();
    home.until_logged(&task, "all over");
    let log = String::from_utf8(home.log(&task)).unwrap();
    for said in ["bare 3", "other 3", "apart 3", "notices 5", "own 0"] {
        assert!(log.contains(said), "{said}: {log}");
    }
    assert!(!log.contains(&elsewhere), "tasks of another session are not shown: {log}");
    assert!(home.has_file("precious"));
    let all = home.list();
    assert!(!all.is_empty() && all.iter().all(|task| task["session"] != "default"), "{all:?}");
    let notices = home.command(["notices", "--json"]).session("other").run().json();
    assert_eq!(
        notices["notices"][0]["task"],
        elsewhere.as_str(),
        "the notification stays with its session: {notices}"
    );
}

#[test]
fn the_enclosing_session_is_found_under_a_renamed_supervisor() {
    let home = project();
    let mw = env!("CARGO_BIN_EXE_mw");
    let guard = home.work().join("guard");
    fs::copy(std::path::Path::new(mw).with_file_name("mw-supervisor"), &guard).unwrap();
    let script =
        format!("env -i MEANWHILE_HOME=\"$MEANWHILE_HOME\" {mw} notices --session other; echo notices $?");
    let command =
        home.command(["start", "--json", &script]).session(SESSION).env("MEANWHILE_SUPERVISOR", &guard);
    let started = command.env("MEANWHILE_MODE", "dangerous").run();
    let task = started.json()["id"].as_str().unwrap().to_owned();
    home.until_logged(&task, "notices 5");
}

/// A task cannot host, serve or end another session.
#[test]
fn a_task_cannot_take_over_another_session() {
    let home = project();
    let mw = env!("CARGO_BIN_EXE_mw");
    let sleeper = home.command(["start", "--json", children::SLEEPER]).session("other").run().json();
    let other = sleeper["id"].as_str().unwrap().to_owned();
    let bare = "env -i PATH=\"$PATH\" HOME=\"$HOME\" MEANWHILE_HOME=\"$MEANWHILE_HOME\"";
    let script = format!(
        "{bare} {mw} session run other -- {mw} list; echo run $?; {bare} {mw} session end other; echo end $?; \
         {bare} {mw} session delete other; echo delete $?; {bare} {mw} session list; \
         {bare} {mw} session run new -- true; echo new $?; echo all over"
    );
    let started =
        home.command(["start", "--json", &script]).session(SESSION).env("MEANWHILE_MODE", "dangerous").run();
    let task = started.json()["id"].as_str().unwrap().to_owned();
    home.until_logged(&task, "all over");
    let log = String::from_utf8(home.log(&task)).unwrap();
    for said in ["run 2", "end 2", "delete 2", "new 0"] {
        assert!(log.contains(said), "{said}: {log}");
    }
    assert!(!log.contains(&other) && !log.contains("other  "), "{log}");
    assert_eq!(home.status(&other)["status"], "running");
}

/// A session that was first hosted inside a task can be hosted again by tasks of the same session, but not by
/// tasks of another.
#[test]
fn a_session_hosted_by_a_task_can_be_used_by_its_session_only() {
    let home = project();
    let mw = env!("CARGO_BIN_EXE_mw");
    let script = format!("{mw} session run inner -- {mw} run 'echo $MEANWHILE_TASK_SESSION'; echo code $?");
    let log_of = |session: &str| {
        let start = home.command(["start", "--json", &script]).session(session);
        let task = start.env("MEANWHILE_MODE", "dangerous").run().json()["id"].as_str().unwrap().to_owned();
        let _ = home.ended(&task);
        String::from_utf8(home.log(&task)).unwrap()
    };
    for _ in 0..2 {
        let log = log_of(SESSION);
        assert!(log.lines().any(|line| line == "inner") && log.contains("code 0"), "{log}");
    }
    let log = log_of("another");
    assert!(log.contains("code 2") && log.contains("cannot reach session inner"), "{log}");
}

#[test]
fn a_task_sees_no_approval_requests_of_other_sessions() {
    let home = project();
    let mw = env!("CARGO_BIN_EXE_mw");
    let asking =
        home.command(["start", "rm precious"]).session("other").env("MEANWHILE_APPROVAL_WAIT", "50ms");
    let _ = asking.run().exits(3);
    assert!(home.mw(["approvals"]).ok().contains("rm precious"));
    let script = format!("{mw} approvals; {mw} approvals --history; echo all over");
    let start = home.command(["start", "--json", &script]).session(SESSION);
    let task = start.env("MEANWHILE_MODE", "dangerous").run().json()["id"].as_str().unwrap().to_owned();
    home.until_logged(&task, "all over");
    let log = String::from_utf8(home.log(&task)).unwrap();
    assert!(!log.contains("rm precious"), "{log}");
}

/// The policy of the enclosing session applies; a mode in the environment is ignored.
#[test]
fn a_session_begun_inside_a_task_has_the_enclosing_policy() {
    let home = project_without_kernel();
    let mw = env!("CARGO_BIN_EXE_mw");
    let bare = "env -i PATH=\"$PATH\" HOME=\"$HOME\" MEANWHILE_HOME=\"$MEANWHILE_HOME\" \
                MEANWHILE_APPROVAL_WAIT=50ms MEANWHILE_MODE=dangerous";
    let inner = format!("{bare} {mw} session run new -- {mw} run 'rm precious'; echo inner $?");
    fs::write(home.work().join("inner.sh"), inner).unwrap();
    let host = home.command(["session", "run", "hosted", "--", mw, "run", "sh inner.sh"]);
    let host = host.env("MEANWHILE_MODE", "safe").spawn();
    home.mw(["approve", &asked(&home)]).ok();
    let said = host.wait();
    assert!(said.text().contains("inner 3"), "{said}");
    assert!(home.has_file("precious"));
}

/// A task cannot replace the policy of its own session, and a second host does not loosen it for the first.
#[test]
fn a_hosted_session_keeps_its_policy() {
    let home = project_without_kernel();
    let mw = env!("CARGO_BIN_EXE_mw");
    let bare = "env -i PATH=\"$PATH\" HOME=\"$HOME\" MEANWHILE_HOME=\"$MEANWHILE_HOME\" \
                MEANWHILE_APPROVAL_WAIT=50ms MEANWHILE_MODE=dangerous";
    let inner = format!("{bare} {mw} session run hosted -- {mw} run 'rm precious'");
    fs::write(home.work().join("inner.sh"), inner).unwrap();
    let beside = format!(
        "{bare} MEANWHILE_SESSION=hosted {mw} session run hosted -- {mw} run 'rm precious'; echo beside $?"
    );
    fs::write(home.work().join("beside.sh"), beside).unwrap();
    let both = format!("{mw} run 'sh inner.sh'; sh beside.sh");
    let host = home.command(["session", "run", "hosted", "--", "sh", "-c", &both]);
    let host = host.env("MEANWHILE_MODE", "safe").spawn();
    home.mw(["approve", &asked(&home)]).ok();
    let said = host.wait();
    // When the inner host ends, all tasks of the session end, including the one that runs the inner host.
    assert!(said.text().contains("beside 3"), "{said}");
    assert_eq!(String::from_utf8_lossy(&said.stderr).matches("approval required").count(), 2, "{said}");
    assert!(home.has_file("precious"));
}

/// The host keeps its lease and its policy.
#[test]
fn deleting_a_hosted_session_does_not_loosen_its_policy() {
    let home = project();
    let mw = env!("CARGO_BIN_EXE_mw");
    let script = format!(
        "{mw} run --name first true; {mw} session delete hosted; echo deleted $?; {mw} status first; \
         echo status $?; \
         MEANWHILE_APPROVAL_WAIT=50ms MEANWHILE_MODE=dangerous {mw} run 'rm precious'; echo then $?"
    );
    let host = home.command(["session", "run", "hosted", "--", "sh", "-c", &script]);
    let said = host.env("MEANWHILE_MODE", "safe").run();
    for line in ["deleted 0", "status 5", "then 3"] {
        assert!(said.text().contains(line), "{line}: {said}");
    }
    assert!(home.has_file("precious"));
}

/// Writes messages for `mw mcp` to a file: the initialization, and these calls.
fn calls(home: &Home, file: &str, calls: &[(&str, Value)]) {
    let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}});
    let mut lines = vec![
        json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
    ];
    lines.extend(calls.iter().enumerate().map(|(number, (name, arguments))| {
        let params = json!({"name": name, "arguments": arguments});
        json!({"jsonrpc": "2.0", "id": number + 1, "method": "tools/call", "params": params})
    }));
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    fs::write(home.work().join(file), text).unwrap();
}

/// A variable that names another session has no effect.
#[test]
fn a_server_inside_a_task_serves_the_session_of_the_task() {
    let home = project();
    let mw = env!("CARGO_BIN_EXE_mw");
    let start = |script: &str| {
        let started = home.command(["start", "--json", script]).session("other").run().json();
        started["id"].as_str().unwrap().to_owned()
    };
    let (ended, live) = (start("exit 3"), start(children::SLEEPER));
    let _ = home.ended(&ended);
    calls(&home, "calls", &[("task_list", json!({})), ("task_stop", json!({"task_ids": [live]}))]);
    let bare = "env -i PATH=\"$PATH\" HOME=\"$HOME\" MEANWHILE_HOME=\"$MEANWHILE_HOME\"";
    let hook = r#"{"hook_event_name":"UserPromptSubmit","session_id":"x"}"#;
    let script = format!(
        "{bare} MEANWHILE_SESSION=other {mw} mcp < calls; \
         echo '{hook}' | {bare} MEANWHILE_SESSION=other {mw} hook claude-code; echo all over"
    );
    let started =
        home.command(["start", "--json", &script]).session(SESSION).env("MEANWHILE_MODE", "dangerous").run();
    let task = started.json()["id"].as_str().unwrap().to_owned();
    home.until_logged(&task, "all over");
    let log = String::from_utf8(home.log(&task)).unwrap();
    assert!(log.contains(&task), "tasks of its own session are shown: {log}");
    assert!(!log.contains(&ended) && !log.contains("<task-id>"), "{log}");
    assert!(log.contains("no task"), "{log}");
    assert_eq!(home.status(&live)["status"], "running");
    let notices = home.command(["notices", "--json"]).session("other").run().json();
    assert_eq!(
        notices["notices"][0]["task"],
        ended.as_str(),
        "the notification stays with its session: {notices}"
    );
}

/// Neither its environment nor the name of a new session loosens the policy.
#[test]
fn a_server_inside_a_task_has_the_enclosing_policy() {
    let home = project_without_kernel();
    let mw = env!("CARGO_BIN_EXE_mw");
    calls(&home, "calls", &[("shell", json!({"command": "rm precious"}))]);
    let bare = "env -i PATH=\"$PATH\" HOME=\"$HOME\" MEANWHILE_HOME=\"$MEANWHILE_HOME\" \
                MEANWHILE_APPROVAL_WAIT=50ms MEANWHILE_MODE=dangerous";
    let inner =
        format!("{bare} {mw} mcp < calls; {bare} MEANWHILE_SESSION=new {mw} mcp < calls; echo all over");
    fs::write(home.work().join("inner.sh"), inner).unwrap();
    let host = home.command(["session", "run", "hosted", "--", mw, "run", "sh inner.sh"]);
    let host = host.env("MEANWHILE_MODE", "safe").spawn();
    home.mw(["approve", &asked(&home)]).ok();
    let said = host.wait();
    assert!(said.text().contains("all over"), "{said}");
    assert_eq!(said.text().matches("mw approve").count(), 2, "both calls need approval: {said}");
    assert!(home.has_file("precious"));
}

/// `mw chat` is refused, and `mw top` shows the tasks of the session.
#[test]
fn screens_inside_a_task_show_only_its_session() {
    let home = project();
    let mw = env!("CARGO_BIN_EXE_mw");
    let other = home.command(["start", "--json", children::SLEEPER]).session("other").run().json();
    let other = other["id"].as_str().unwrap().to_owned();
    let bare = "env -i PATH=\"$PATH\" HOME=\"$HOME\" MEANWHILE_HOME=\"$MEANWHILE_HOME\" TERM=xterm";
    let script = format!(
        "{bare} {mw} chat; {bare} MEANWHILE_SESSION=other {mw} top --session other; echo asked; {bare} {mw} top"
    );
    let start = home.command(["start", "--pty", "--json", &script]).session(SESSION);
    let task = start.env("MEANWHILE_MODE", "dangerous").run().json()["id"].as_str().unwrap().to_owned();
    let own = task.split_once('-').unwrap().1;
    home.until_logged(&task, "asked");
    home.until_logged(&task, own);
    let log = String::from_utf8_lossy(&home.log(&task)).into_owned();
    assert!(log.contains("mw chat cannot run inside task"), "{log}");
    assert!(log.contains("cannot show session other"), "{log}");
    assert!(!log.contains(&other), "{log}");
    let _ = home.mw(["kill", &task]);
}
