//! `mw queue`: the order of queued tasks, and what a person changes about it.

use std::fs;

use mw_testkit::{Home, SOON, children, wait_until};
use serde_json::Value;

use crate::approval::{SESSION, project};
use crate::home;

/// A home in which one task runs at a time. The first is running, and ends when `go` is opened.
fn busy() -> (Home, String) {
    let home = home().with_env("MEANWHILE_QUEUE_MAX_RUNNING", "1");
    let first = home.start(&children::gated("go", 0));
    (home, first)
}

fn queue(home: &Home, names: &[&str]) {
    for name in names {
        let _ = home.start_with(&["--name", name], &format!("echo {name} >> order"));
    }
}

fn order(home: &Home) -> Vec<String> {
    order_by(home, "name")
}

fn order_by(home: &Home, field: &str) -> Vec<String> {
    let listed = home.mw(["queue", "--json"]).exits(0).json();
    let text = |task: &Value| task[field].as_str().unwrap().to_owned();
    listed["tasks"].as_array().unwrap().iter().map(text).collect()
}

fn ran(home: &Home, count: usize) -> String {
    let read = || fs::read_to_string(home.work().join("order")).unwrap_or_default();
    wait_until(SOON, "all have run", || Some(read()).filter(|text| text.lines().count() == count))
}

#[test]
fn queued_tasks_are_moved_and_run_in_that_order() {
    let (home, _) = busy();
    queue(&home, &["a", "b", "c", "d"]);
    assert_eq!(order(&home), ["a", "b", "c", "d"]);
    home.mw(["queue", "move", "d", "--first"]).ok();
    home.mw(["queue", "move", "a", "--last"]).ok();
    home.mw(["queue", "move", "c", "--before", "b"]).ok();
    assert_eq!(order(&home), ["d", "c", "b", "a"]);
    home.mw(["queue", "move", "d", "--behind", "c"]).ok();
    queue(&home, &["e"]);
    assert_eq!(order(&home), ["c", "d", "b", "a", "e"], "a later task comes last");
    // The order is also in the specs.
    fs::remove_file(home.state().join("meanwhile.db")).unwrap();
    assert_eq!(order(&home), ["c", "d", "b", "a", "e"]);
    home.open("go");
    assert_eq!(ran(&home, 5), "c\nd\nb\na\ne\n");
}

#[test]
fn a_moved_task_takes_the_priority_of_its_neighbours_if_it_must() {
    let (home, _) = busy();
    let _ = home.start_with(&["--name", "high", "--priority", "5"], "true");
    let _ = home.start_with(&["--name", "low", "--priority", "-5"], "true");
    let moved = home.mw(["queue", "move", "low", "--first", "--json"]).exits(0).json();
    assert_eq!(moved["tasks"][0]["queue_position"], 1, "{moved}");
    assert_eq!(order(&home), ["low", "high"]);
    home.mw(["queue", "priority", "low", "4"]).ok();
    assert_eq!(order(&home), ["high", "low"]);
}

#[test]
fn a_queued_task_starts_at_once_on_request() {
    let (home, first) = busy();
    queue(&home, &["a", "b"]);
    home.mw(["queue", "start", "b"]).ok();
    assert_eq!(ran(&home, 1), "b\n");
    assert_eq!(home.status(&first)["status"], "running");
    assert_eq!(order(&home), ["a"], "the others still wait");
    let after = home.start_with(&["--name", "after", "--after", "a"], "echo after >> order");
    home.mw(["queue", "start", "after"]).ok();
    assert_eq!(home.ended(&after)["status"], "completed");
    assert_eq!(ran(&home, 2), "b\nafter\n");
}

#[test]
fn the_command_of_a_queued_task_can_be_replaced() {
    let (home, _) = busy();
    let id = home.start("echo wrong > order");
    home.mw(["queue", "edit", &id, "echo right > order"]).ok();
    assert_eq!(home.status(&id)["command"], "echo right > order");
    let refused = home.mw(["queue", "edit", "--json", &id, "--", "/no/such/program", "x"]);
    assert_ne!(refused.code, Some(0), "{refused}");
    home.open("go");
    assert_eq!(home.ended(&id)["status"], "completed");
    assert_eq!(ran(&home, 1), "right\n");
}

/// A command or a name may contain anything.
#[test]
fn hostile_texts_and_secrets_are_not_printed() {
    let (home, _) = busy();
    let secret = "ghp_abcdefghijklmnopqrstuvwxyz0123456789";
    let _ = home.start_with(&["--name", "odd"], &format!("echo {secret} \u{1b}]0;title\u{7}\r\u{202e}x"));
    let shown = [
        home.mw(["queue"]).ok(),
        home.mw(["queue", "priority", "odd", "2"]).ok(),
        home.mw(["queue", "move", "odd", "--first", "--json"]).ok(),
        home.mw(["queue", "edit", "odd", &format!("echo {secret}")]).ok(),
    ];
    for text in shown {
        let is_json = text.starts_with('{');
        let odd = |c: char| c != '\n' && (c.is_control() || c == '\u{202e}' && !is_json);
        assert!(!text.contains(secret) && !text.contains(odd), "{text:?}");
    }
    let _ = home.mw(["queue", "edit", "odd", "  "]).exits(2);
    let _ = home.mw(["queue", "start", "odd", "odd"]).exits(0);
}

#[test]
fn only_queued_tasks_can_be_changed() {
    let (home, first) = busy();
    queue(&home, &["a"]);
    for args in [
        &["queue", "move", &first, "--first"][..],
        &["queue", "start", &first],
        &["queue", "priority", &first, "3"],
        &["queue", "edit", &first, "true"],
    ] {
        let refused = home.mw(args).exits(6);
        assert!(refused.to_string().contains("not queued"), "{refused}");
    }
    let _ = home.mw(["queue", "move", "a", "--before", &first]).exits(2);
    let _ = home.mw(["queue", "move", "a", "--before", "a"]).exits(2);
    let _ = home.mw(["queue", "move", "a"]).exits(2);
    let _ = home.mw(["queue", "move", "a", "--first", "--last"]).exits(2);
    let _ = home.mw(["queue", "start", "nobody"]).exits(5);
}

#[test]
fn the_list_says_why_each_task_waits() {
    let (home, first) = busy();
    queue(&home, &["a"]);
    let _ = home.start_with(&["--name", "b", "--after", &first], "true");
    let reasons = |home: &Home| {
        let listed = home.mw(["queue", "--json"]).exits(0).json();
        let reason = |task: &Value| task["reason"].as_str().unwrap().to_owned();
        listed["tasks"].as_array().unwrap().iter().map(reason).collect::<Vec<_>>()
    };
    assert_eq!(reasons(&home), ["limit of its session: 1 task".to_owned(), format!("after {first}")]);
    let shown = home.mw(["queue"]).ok();
    assert!(shown.contains("WAITS FOR") && shown.contains("limit of its session: 1 task"), "{shown}");
    home.open("go");
    home.wait_until_empty(SOON);
    assert_eq!(home.mw(["queue"]).ok(), "Nothing is queued.\n");
}

#[test]
fn a_group_limits_its_tasks_over_all_sessions_and_no_others() {
    let home = home();
    let start = |session: &str, options: &[&str], script: &str| {
        let words = ["start", "--json"].iter().chain(options).chain([&script]);
        home.command(words).session(session).run().json()["id"].as_str().unwrap().to_owned()
    };
    let first = start("one", &["--group", "gpu=1"], &children::gated("go", 0));
    let second = start("two", &["--group", "gpu=1"], "touch second");
    let other = start("two", &[], "exit 3");
    assert_eq!(home.ended(&other)["exit_code"], 3, "a task without the group does not wait");
    assert_eq!(home.status(&second)["status"], "pending");
    let listed = home.mw(["queue", "--json"]).exits(0).json();
    assert_eq!(listed["tasks"][0]["reason"], "limit of the group gpu: 1 task", "{listed}");
    home.open("go");
    home.ended(&first);
    assert_eq!(home.ended(&second)["status"], "completed");
    for bad in ["gpu", "gpu=0", "gpu=x", "=1", "a b=1", "../x=1"] {
        let _ = home.mw(["start", "--group", bad, "true"]).exits(2);
    }
}

/// `run` takes no slot of its session, but waits for one of the group.
#[test]
fn a_command_in_the_foreground_waits_for_its_group() {
    let home = home();
    let first = home.start_with(&["--group", "gpu=1"], &children::gated("go", 0));
    let run = home.command(["run", "--group", "gpu=1", "echo ran"]).spawn();
    wait_until(SOON, "it is queued", || (order_by(&home, "command") == ["echo ran"]).then_some(()));
    home.open("go");
    assert!(run.wait().text().contains("ran"));
    assert_eq!(home.ended(&first)["status"], "completed");
}

#[test]
fn a_session_changes_the_order_of_its_own_tasks_only() {
    let home = project().with_env("MEANWHILE_QUEUE_MAX_RUNNING", "1");
    let start = |session: &str, script: &str| {
        let started = home.command(["start", "--json", script]).session(session);
        started.env("MEANWHILE_MODE", "dangerous").run().json()["id"].as_str().unwrap().to_owned()
    };
    for session in [SESSION, "other"] {
        start(session, children::SLEEPER);
    }
    let (own, others) = (start(SESSION, "true"), start("other", "true"));
    let call = |args: &[&str]| home.command(args.iter().copied()).session(SESSION).run();
    let _ = call(&["queue", "priority", &others, "7"]).exits(5);
    let _ = call(&["queue", "start", &own]).exits(2);
    let _ = call(&["queue", "edit", &own, "rm precious"]).exits(2);
    let _ = call(&["queue", "priority", &own, "7"]).exits(0);
    let listed = call(&["queue", "--json"]).json();
    assert_eq!((&listed["total"], &listed["tasks"][0]["priority"]), (&1.into(), &7.into()), "{listed}");
    let plan =
        home.command(["queue", "move", &own, "--first"]).session(SESSION).env("MEANWHILE_MODE", "plan");
    let _ = plan.run().exits(4);
    assert_eq!(home.status(&own)["status"], "pending");
}
