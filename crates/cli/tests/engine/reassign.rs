//! `mw session reassign`: tasks and undelivered notifications pass to another session.

use mw_testkit::host::Host;
use mw_testkit::{Home, SOON, alive, children, wait_until};
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::home;

fn start(home: &Home, script: &str) -> String {
    let started = home.command(["start", "--json", script]).session("child").run().json();
    started["id"].as_str().unwrap().to_owned()
}

fn delivered_tasks(home: &Home, session: &str) -> Vec<String> {
    let value = home.mw(["notices", "--json", "--session", session]).json();
    let notices = value["notices"].as_array().unwrap();
    notices.iter().map(|notice| notice["task"].as_str().unwrap().to_owned()).collect()
}

fn reassign(home: &Home) -> Vec<Value> {
    let value = home.mw(["session", "reassign", "child", "parent", "--json"]).json();
    value["tasks"].as_array().unwrap().clone()
}

#[test]
fn reassign_moves_running_tasks_and_undelivered_notifications_only() {
    let home = home();
    let known = start(&home, "true");
    home.ended(&known);
    assert_eq!(delivered_tasks(&home, "child"), [known.as_str()]);
    let undelivered = start(&home, "false");
    home.ended(&undelivered);
    let running = start(&home, &children::gated("go", 4));
    assert_eq!(reassign(&home), [undelivered.as_str(), running.as_str()]);
    for (id, session) in [(&known, "child"), (&undelivered, "parent"), (&running, "parent")] {
        assert_eq!(home.status(id)["session"], session, "{id}");
    }
    let refusal = home.command(["status", "--json", &running]).session("child").run().refusal(5);
    assert_eq!(refusal["code"], "not_found", "{refusal}");
    home.command(["status", &running]).session("parent").run().ok();
    home.open("go");
    home.ended(&running);
    assert_eq!(delivered_tasks(&home, "child"), Vec::<String>::new());
    assert_eq!(delivered_tasks(&home, "parent"), [undelivered, running]);
}

/// A list does not count the tasks; each session keeps the number.
#[test]
fn the_total_is_true_after_tasks_were_added_reassigned_and_removed() {
    let home = home();
    let totals = || {
        ["child", "parent", "other"].map(|session| {
            let listed = home.mw(["list", "--json", "--session", session]).json();
            assert_eq!(listed["total"], listed["tasks"].as_array().unwrap().len(), "{listed}");
            listed["total"].as_u64().unwrap()
        })
    };
    let in_all = || home.mw(["list", "--json", "--limit", "1"]).json()["total"].clone();
    let known = start(&home, "true");
    home.ended(&known);
    delivered_tasks(&home, "child");
    let moved = start(&home, "false");
    home.ended(&moved);
    home.command(["start", "true"]).session("other").run().ok();
    assert_eq!((totals(), in_all()), ([2, 0, 1], json!(3)));
    assert_eq!(reassign(&home), [moved.as_str()]);
    assert_eq!((totals(), in_all()), ([1, 1, 1], json!(3)));
    home.mw(["clear", &known]).ok();
    assert_eq!((totals(), in_all()), ([0, 1, 1], json!(2)));
    let sessions = home.mw(["session", "list", "--json"]).json().to_string();
    assert!(!sessions.contains("child") && sessions.contains("parent"), "{sessions}");
    let database = home.state().join("meanwhile.db");
    home.until_settled(&moved);
    std::fs::remove_file(&database).unwrap();
    assert_eq!((totals(), in_all()), ([0, 1, 1], json!(2)), "after a rebuild");
}

/// A foreground call reserves the end notification for its reply, which a killed server cannot send.
#[test]
fn an_end_reserved_by_a_killed_server_is_notified_to_the_new_owner() {
    let home = home();
    for is_over in [false, true] {
        let gate = format!("go-{is_over}");
        let mut host = Host::of(home.command(["mcp"]).session("child"));
        let _ = host.begin("shell", &json!({"command": children::gated(&gate, 4)}));
        let id = wait_until(SOON, "the command runs", || {
            let live = home.list().into_iter().find(|task| task["status"] == "running");
            live.map(|task| task["id"].as_str().unwrap().to_owned())
        });
        host.server.signal(Signal::KILL);
        let _ = host.server.wait(SOON);
        if is_over {
            home.open(&gate);
            home.ended(&id);
        }
        assert_eq!(reassign(&home), [id.as_str()]);
        home.open(&gate);
        home.ended(&id);
        assert_eq!(delivered_tasks(&home, "child"), Vec::<String>::new());
        assert_eq!(delivered_tasks(&home, "parent"), [id], "ended before the reassignment: {is_over}");
    }
}

#[test]
fn a_rebuilt_database_has_the_new_owner() {
    let home = home();
    let id = start(&home, children::SLEEPER);
    let other = home.command(["start", "--json", "true"]).session("parent").run().json();
    home.until_settled(other["id"].as_str().unwrap());
    reassign(&home);
    home.delete_database();
    assert_eq!(home.status(&id)["session"], "parent");
    home.command(["status", "bash_2"]).session("parent").run().ok();
    home.mw(["kill", &id]).ok();
}

#[test]
fn a_reassigned_task_ends_with_its_new_session() {
    let home = home().with_env("MEANWHILE_SESSION_GRACE_MS", "30");
    let quiet = "exec sleep 600 >/dev/null 2>&1";
    let host = |session: &str| home.command(["session", "run", session, "--", "sh", "-c", quiet]).spawn();
    let (old, new) = (host("child"), host("parent"));
    let hosts = |session: &str| {
        std::fs::read_dir(home.state().join("sessions").join(session)).is_ok_and(|entries| {
            entries.flatten().any(|entry| {
                // The host writes its session once the file is locked.
                entry.file_name().to_string_lossy().starts_with("host-")
                    && std::fs::read(entry.path()).is_ok_and(|text| text.ends_with(b"\n"))
            })
        })
    };
    wait_until(SOON, "both sessions are hosted", || (hosts("child") && hosts("parent")).then_some(()));
    let (passed, stays) = (start(&home, children::SLEEPER), start(&home, children::SLEEPER));
    let pids = [home.pid(&passed), home.pid(&stays)];
    let control = home.task_dir(&passed).join("control");
    wait_until(SOON, "the supervisor can be reached", || control.exists().then_some(()));
    reassign(&home);
    let last = start(&home, children::SLEEPER);
    let watched = home.task_dir(&last).join("control");
    wait_until(SOON, "the last task has a supervisor", || watched.exists().then_some(()));
    let _ = old.kill();
    assert_eq!(home.ended(&last)["status"], "cancelled", "it ends with the old session");
    assert!(pids.iter().all(|pid| alive(*pid)), "the reassigned tasks continue");
    let _ = new.kill();
    wait_until(SOON, "they end with the new session", || (!pids.iter().any(|pid| alive(*pid))).then_some(()));
}
