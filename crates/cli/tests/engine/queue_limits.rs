//! A queued task keeps the limit of its start, whichever process frees the slot.

use mw_testkit::host::Host;
use mw_testkit::{Home, SOON, children, wait_until};
use serde_json::json;

use crate::home;

fn start(home: &Home, limit: &str, in_all: &str) -> String {
    let command = home
        .command(["start", "--json", children::SLEEPER])
        .env("MEANWHILE_QUEUE_MAX_RUNNING", limit)
        .env("MEANWHILE_QUEUE_MAX_RUNNING_TOTAL", in_all);
    command.run().exits(0).json()["id"].as_str().unwrap().to_owned()
}

fn with_status(home: &Home, status: &str) -> usize {
    home.list().iter().filter(|task| task["status"] == status).count()
}

#[test]
fn commands_with_other_settings_do_not_exceed_the_limit_of_the_start() {
    for (limit, in_all) in [("2", "0"), ("8", "2")] {
        let home = home();
        let ids: Vec<_> = (0..5).map(|_| start(&home, limit, in_all)).collect();
        let _ = home.mw(["list"]).ok();
        let _ = home.mw(["status", &ids[4]]).ok();
        assert_eq!((with_status(&home, "running"), with_status(&home, "pending")), (2, 3));
        // A kill under other settings frees a slot, and one task starts.
        let _ = home.mw(["kill", &ids[0]]).ok();
        wait_until(SOON, "the next task runs", || (with_status(&home, "running") == 2).then_some(()));
        assert_eq!(with_status(&home, "pending"), 2);
        assert_eq!(home.status(&ids[2])["status"], "running", "tasks start in order");
    }
}

#[test]
fn a_queued_task_keeps_the_limit_of_its_start() {
    let home = home();
    let ids = [start(&home, "1", "0"), start(&home, "1", "0"), start(&home, "3", "0")];
    assert_eq!(home.status(&ids[1])["status"], "pending", "its limit allows no other running task");
    assert_eq!(home.status(&ids[2])["status"], "running", "the limits of other tasks do not apply to it");
    let last = start(&home, "2", "0");
    assert_eq!(home.status(&last)["status"], "pending", "two tasks run already");
    let _ = home.mw(["kill", &ids[0]]).ok();
    wait_until(SOON, "the last task runs", || (home.status(&last)["status"] == "running").then_some(()));
    let _ = home.mw(["kill", &ids[2]]).ok();
    assert_eq!(home.status(&ids[1])["status"], "pending", "another task still runs");
    let _ = home.mw(["kill", &last]).ok();
    wait_until(SOON, "it runs once no other task does", || {
        (home.status(&ids[1])["status"] == "running").then_some(())
    });
    // Another session has its own limit.
    let other = home.command(["start", "--json", children::SLEEPER]).session("other").run().exits(0).json();
    assert_eq!(other["status"], "running", "{other}");
}

/// The session has a server that queues tasks, a second server with a foreground command, and a person.
#[test]
fn other_front_ends_of_a_session_do_not_raise_the_limit_of_queued_tasks() {
    let home = home().with_env("MEANWHILE_MODE", "dangerous");
    let mut co_cli = Host::of(home.command(["mcp", "--dialect", "co-cli"]).session("s"));
    for _ in 0..8 {
        let _ = co_cli.call("start_background_task", &json!({"command": "sleep 600", "description": "d"}));
    }
    let counts = || (with_status(&home, "running"), with_status(&home, "pending"));
    assert_eq!(counts(), (5, 3));
    let mut mycode = Host::of(home.command(["mcp", "--dialect", "mycode"]).session("s"));
    let _ = mycode.call("Bash", &json!({"command": "true"}));
    assert_eq!(counts(), (5, 3));
    let started = home.command(["start", "--json", "true"]).session("s").run().exits(0).json();
    home.ended(started["id"].as_str().unwrap());
    assert_eq!(counts(), (5, 3));
}

#[test]
fn a_queued_task_without_stored_limits_uses_those_of_its_launcher() {
    let home = home();
    let ids = [start(&home, "1", "0"), start(&home, "1", "0")];
    let path = home.task_dir(&ids[1]).join("spec.json");
    let mut spec: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    assert!(spec.as_object_mut().unwrap().remove("queue").is_some());
    std::fs::write(&path, spec.to_string()).unwrap();
    // A database is rebuilt from the specs.
    home.delete_database();
    let _ = home.mw(["list"]).ok();
    wait_until(SOON, "the task runs", || (home.status(&ids[1])["status"] == "running").then_some(()));
}
