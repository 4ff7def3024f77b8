//! Sessions see their own tasks only.

use mw_testkit::{Home, alive, children};

use crate::home;

fn start_in(home: &Home, session: &str, script: &str) -> String {
    let outcome = home.command(["start", "--json", script]).session(session).run().exits(0);
    outcome.json()["id"].as_str().unwrap().to_owned()
}

#[test]
fn a_task_belongs_to_the_session_that_started_it() {
    let home = home();
    let id = start_in(&home, "mine", "echo $MEANWHILE_TASK_SESSION");
    assert_eq!(home.ended(&id)["session"], "mine");
    assert_eq!(home.log(&id), b"mine\n");
}

#[test]
fn a_session_lists_its_own_tasks_only() {
    let home = home();
    let mine = start_in(&home, "mine", "true");
    let _theirs = start_in(&home, "theirs", "true");
    let _outside = home.start("true");
    let answer = home.command(["list", "--json", "--all"]).session("mine").run().exits(0).json();
    assert_eq!(answer["total"], 1, "{answer}");
    assert_eq!(answer["tasks"][0]["id"], mine.as_str(), "{answer}");
}

#[test]
fn outside_a_session_all_tasks_are_listed() {
    let home = home();
    let _ = start_in(&home, "mine", "true");
    let _ = start_in(&home, "theirs", "true");
    let _ = home.start("true");
    assert_eq!(home.list().len(), 3);
}

#[test]
fn a_foreign_task_is_not_found_by_any_command() {
    let home = home();
    let id = start_in(&home, "theirs", children::SLEEPER);
    let pid = home.pid(&id);
    let commands: [&[&str]; 9] = [
        &["status", "--json", &id],
        &["output", "--json", &id],
        &["wait", "--json", &id, "--timeout", "1s"],
        &["kill", "--json", &id],
        &["input", "--json", &id, "x"],
        &["restart", "--json", &id],
        &["clear", "--json", &id, "--kill"],
        &["start", "--json", "--after", &id, "true"],
        &["watch", "--json", "--no-follow", "--task", &id],
    ];
    for args in commands {
        let error = home.command(args).session("mine").run().refusal(5);
        assert!(!error.to_string().contains("session \"theirs\""), "{error}");
    }
    assert!(alive(pid));
    assert_eq!(home.status(&id)["status"], "running");
}

#[test]
fn kill_all_inside_a_session_spares_other_sessions() {
    let home = home();
    let mine = start_in(&home, "mine", children::SLEEPER);
    let theirs = start_in(&home, "theirs", children::SLEEPER);
    let _ = home.command(["kill", "--all"]).session("mine").run().ok();
    assert_eq!(home.status(&mine)["status"], "cancelled");
    assert_eq!(home.status(&theirs)["status"], "running");
}

#[test]
fn clear_inside_a_session_spares_other_sessions() {
    let home = home();
    let (mine, theirs) = (start_in(&home, "mine", "true"), start_in(&home, "theirs", "true"));
    home.ended(&mine);
    home.ended(&theirs);
    let _ = home.command(["clear", "--finished"]).session("mine").run().ok();
    let left: Vec<_> = home.list().iter().map(|task| task["id"].clone()).collect();
    assert_eq!(left, [theirs.as_str()]);
}

#[test]
fn watching_inside_a_session_shows_its_own_events_only() {
    let home = home();
    let mine = start_in(&home, "mine", "true");
    let theirs = start_in(&home, "theirs", "true");
    home.ended(&mine);
    home.ended(&theirs);
    let events = home.command(["watch", "--no-follow"]).session("mine").run().exits(0).json_lines();
    assert!(!events.is_empty());
    assert!(events.iter().all(|event| event["task"] == mine.as_str()), "{events:?}");
}

#[test]
fn tasks_are_numbered_per_session() {
    let home = home();
    let ids = ["one", "two"].map(|session| start_in(&home, session, "true"));
    for (session, id) in ["one", "two"].iter().zip(&ids) {
        let task = home.command(["status", "--json", "bash_1"]).session(session).run().exits(0).json();
        assert_eq!(task["id"], id.as_str());
    }
}

#[test]
fn a_task_keeps_its_parent_session_and_message() {
    let home = home();
    let options = ["--parent-session", "agent-7", "--parent-message", "msg_42"];
    let id = home.start_with(&options, "true");
    home.ended(&id);
    let task = home.status(&id);
    assert_eq!(
        (&task["parent_session"], &task["parent_message"]),
        (&"agent-7".into(), &"msg_42".into()),
        "{task}"
    );
    let plain = home.status(&home.start("true"));
    assert!(plain.get("parent_message").is_none(), "{plain}");
}

#[test]
fn deleting_a_session_with_one_task_reports_one_task() {
    let home = home();
    let id = start_in(&home, "mine", "true");
    home.ended(&id);
    assert_eq!(home.mw(["session", "delete", "mine"]).ok(), "removed 1 task\n");
}

#[test]
fn sessions_are_listed_as_a_table() {
    let home = home();
    assert_eq!(home.mw(["session", "list"]).ok(), "No sessions.\n");
    home.ended(&home.start("true"));
    let started = home.command(["start", "--json", "true"]).session("a-long-session-name").run();
    home.ended(started.json()["id"].as_str().unwrap());
    let text = home.mw(["session", "list"]).ok();
    let lines: Vec<_> = text.lines().collect();
    assert!(lines[0].starts_with("SESSION ") && lines[0].ends_with("  HOSTS"), "{text}");
    assert_eq!(lines.len(), 3, "{text}");
    let right: Vec<_> = lines.iter().map(|line| line.chars().count()).collect();
    assert!(right.iter().all(|width| *width == right[0]), "numbers are aligned: {text}");
}
