//! The gate of a session cannot be left from inside one of its tasks.

use std::fs;

use mw_testkit::children;

use crate::approval::{SESSION, asked, project};

/// Nothing that a task does to its environment lets it out of its session.
#[test]
fn the_gate_of_a_tasks_session_cannot_be_left_by_its_environment() {
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
    assert!(!log.contains(&elsewhere), "what another session has is not shown: {log}");
    assert!(home.has_file("precious"));
    let all = home.list();
    assert!(all.iter().all(|task| task["session"] != "default"), "{all:?}");
    let notices = home.command(["notices", "--json"]).session("other").run().json();
    assert_eq!(notices["notices"][0]["task"], elsewhere.as_str(), "it was left to its owner: {notices}");
}

/// What runs in a task cannot become the host, the server or the end of another session.
#[test]
fn another_session_cannot_be_taken_over_from_inside_a_task() {
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

/// A session that is kept by a process inside the task is that process's own.
#[test]
fn a_session_that_a_task_hosts_is_its_own() {
    let home = project();
    let mw = env!("CARGO_BIN_EXE_mw");
    let script = format!("{mw} session run inner -- {mw} run 'echo $MEANWHILE_TASK_SESSION'");
    let started =
        home.command(["start", "--json", &script]).session(SESSION).env("MEANWHILE_MODE", "dangerous").run();
    let task = started.json()["id"].as_str().unwrap().to_owned();
    let _ = home.ended(&task);
    let log = String::from_utf8(home.log(&task)).unwrap();
    assert!(log.lines().any(|line| line == "inner"), "{log}");
}

/// Whatever mode the environment names: the rules of the session around hold.
#[test]
fn a_session_that_is_begun_inside_a_task_has_the_rules_around_it() {
    let home = project();
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
