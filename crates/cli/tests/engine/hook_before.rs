//! The hook before a run: it can prevent the run, and it is not passed by if it fails.

use std::fs;

use mw_testkit::host::Host;
use mw_testkit::{Home, SOON, children, wait_until};
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::home;
use crate::settings::both_ways;

const INPUTS: &str = "before.jsonl";
const VARIABLE: &str = "MEANWHILE_HOOKS_BEFORE";

/// A hook that records its input.
fn listener(home: &Home) -> String {
    format!("cat >> {}", home.work().join(INPUTS).display())
}

fn inputs(home: &Home) -> Vec<Value> {
    let text = fs::read_to_string(home.work().join(INPUTS)).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// A hook that refuses until a file exists.
fn with_switch(home: Home) -> Home {
    let file = home.work().join("allow");
    let hook =
        format!("test -e {} || {{ echo 'the lab is closed' >&2; echo more >&2; exit 3; }}", file.display());
    home.with_env(VARIABLE, hook)
}

/// A hook that says that it runs, and goes on when a file exists.
fn with_gate(home: Home) -> Home {
    let work = home.work();
    let hook = format!("cat >> {0}/{INPUTS}; while [ ! -e {0}/go ]; do sleep 0.02; done", work.display());
    home.with_env(VARIABLE, hook).with_env("MEANWHILE_HOOKS_TIMEOUT_MS", "60000")
}

fn until_called(home: &Home, times: usize) {
    wait_until(SOON, "the hook runs", || (inputs(home).len() == times).then_some(()));
}

#[test]
fn hooks_before_takes_effect_for_each_run() {
    let place = home();
    for home in both_ways("hooks.before", &listener(&place)) {
        fs::remove_file(place.work().join(INPUTS)).ok();
        let id = home.start_with(&["--env", "API_TOKEN=hunter2hunter2"], "echo hunter2hunter2 > ran");
        // It has ended before the command began.
        let first = inputs(&place).remove(0);
        let facts = ["hook", "id", "session"].map(|field| first[field].as_str().unwrap());
        assert_eq!(facts, ["before", &id, "default"]);
        assert_eq!((&first["cwd"], &first["run"]), (&home.work().to_str().unwrap().into(), &1.into()));
        let command = first["command"].as_str().unwrap();
        assert!(command.contains("> ran") && !command.contains("hunter2"), "{first}");
        home.ended(&id);
        home.mw(["restart", &id]).ok();
        home.ended(&id);
        let _ = home.mw(["run", "true"]).exits(0);
        let later = home.start_with(&["--name", "later", "--delay", "1ms"], "true");
        home.ended(&later);
        let runs: Vec<_> = inputs(&place).iter().map(|input| input["run"].as_u64().unwrap()).collect();
        assert_eq!(runs, [1, 2, 1, 1]);
        assert_eq!(inputs(&place)[3]["name"], "later");
    }
}

#[test]
fn a_refused_start_leaves_nothing_and_says_why() {
    let home = with_switch(home());
    for words in [&["start", "--json", "touch ran"][..], &["run", "--json", "touch ran"]] {
        let refused = home.mw(words.iter().copied()).refusal(4);
        let message = refused["message"].as_str().unwrap();
        assert!(message.contains("the hook before tasks has refused it: the lab is closed"), "{refused}");
        assert!(!message.contains("more"), "{refused}");
    }
    let mut host = Host::of(home.command(["mcp"]).session("host"));
    let reply = host.call("shell", &json!({"command": "touch ran", "run_in_background": true}));
    assert!(reply["isError"] == true && reply.to_string().contains("the lab is closed"), "{reply}");
    drop(host);
    assert!(home.list().is_empty() && !home.has_file("ran"));
    home.open("allow");
    let id = home.start("touch ran");
    assert_eq!(home.ended(&id)["status"], "completed");
}

#[test]
fn a_refused_run_of_a_queued_task_fails_and_frees_its_slot() {
    let home = with_switch(home()).with_env("MEANWHILE_QUEUE_MAX_RUNNING", "1");
    home.open("allow");
    let first = home.start(&children::gated("go", 0));
    let second = home.start("touch ran");
    fs::remove_file(home.work().join("allow")).unwrap();
    home.open("go");
    home.ended(&first);
    let task = home.ended(&second);
    assert_eq!(task["status"], "failed", "{task}");
    assert!(task["cause"].as_str().unwrap().contains("the lab is closed"), "{task}");
    assert!(!home.has_file("ran"));
    // A restart is a run, too.
    let restarted = home.mw(["restart", &second]);
    assert!(restarted.text().contains("the lab is closed"), "{restarted}");
    home.open("allow");
    home.mw(["restart", &second]).ok();
    assert_eq!(home.ended(&second)["status"], "completed");
}

/// A gate that is broken is closed.
#[test]
fn a_hook_that_cannot_be_executed_or_does_not_end_prevents_the_start() {
    let home = home().with_env("MEANWHILE_HOOKS_TIMEOUT_MS", "300");
    for (hook, why) in [
        ("no-such-program --now", "not found"),
        ("exec sleep 600", "took longer"),
        ("sleep 600", "took longer"),
        ("kill -KILL $$", "signal"),
        ("exit 9", "9"),
    ] {
        let refused = home.command(["start", "--json", "touch ran"]).env(VARIABLE, hook).run().refusal(4);
        assert!(refused["message"].as_str().unwrap().contains(why), "{hook}: {refused}");
    }
    assert!(home.list().is_empty() && !home.has_file("ran"));
    home.wait_until_empty(SOON);
    let home = home.with_env(VARIABLE, "no-such-program --now");
    let found = home.mw(["doctor", "--json"]).exits(1).to_string();
    assert!(found.contains("hooks.before runs"), "{found}");
}

/// Otherwise it would be called for that task, would start another, and so on.
#[test]
fn the_hook_cannot_start_tasks() {
    let home = home();
    let hook = format!("{} start true", env!("CARGO_BIN_EXE_mw"));
    let home = home.with_env(VARIABLE, hook).with_env("MEANWHILE_HOOKS_TIMEOUT_MS", "60000");
    let refused = home.mw(["start", "--json", "true"]).refusal(4);
    assert!(refused["message"].as_str().unwrap().contains("the hook cannot start tasks itself"), "{refused}");
    assert!(home.list().is_empty());
}

#[test]
fn a_start_that_is_killed_during_the_hook_leaves_no_task() {
    let home = with_gate(home());
    let starting = home.command(["start", "touch ran"]).spawn();
    until_called(&home, 1);
    starting.signal(Signal::KILL);
    drop(starting.wait());
    assert!(home.list().is_empty());
    home.open("go");
    let id = home.start("echo run >> runs");
    assert_eq!(home.ended(&id)["status"], "completed");
    assert!(!home.has_file("ran"));
    assert_eq!(home.list().len(), 1);
}

/// A task with a name is recorded first, because the name is taken then.
#[test]
fn a_recorded_task_whose_starter_is_killed_during_the_hook_starts_once_with_the_next_command() {
    let home = with_gate(home());
    let starting = home.command(["start", "--name", "web", "echo run >> runs"]).spawn();
    until_called(&home, 1);
    let id = inputs(&home)[0]["id"].as_str().unwrap().to_owned();
    assert_eq!(home.status(&id)["status"], "pending", "it has not run");
    starting.signal(Signal::KILL);
    drop(starting.wait());
    home.open("go");
    assert_eq!(home.ended(&id)["status"], "completed");
    assert_eq!(home.lines_in("runs", 1), "run\n");
    let called: Vec<_> = inputs(&home).iter().map(|input| input["run"].clone()).collect();
    assert_eq!(called, [1, 1], "the hook was asked again");
}

/// The hook ends first, and then the task is killed.
#[test]
fn a_kill_during_the_hook_waits_for_it() {
    let home = with_gate(home());
    let starting = home.command(["start", "--name", "web", children::SLEEPER]).spawn();
    until_called(&home, 1);
    let killing = home.command(["kill", "web"]).spawn();
    home.open("go");
    let _ = killing.wait().exits(0);
    let _ = starting.wait();
    assert_eq!(home.ended("web")["status"], "cancelled");
    home.wait_until_empty(SOON);
}
