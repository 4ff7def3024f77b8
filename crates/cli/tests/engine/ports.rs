//! Ports of tasks, and the owner of a port.

use std::net::TcpListener;
use std::time::{Duration, Instant};

use mw_testkit::processes::kill_if;
use mw_testkit::{Home, SOON, children, wait_until};
use rustix::process::Signal;
use serde_json::Value;

use crate::home;
use crate::wait::{free_port, listener};

/// Starts a task that listens and returns its id and port.
fn listening(home: &Home) -> (String, u64) {
    let id = home.start(&listener("0"));
    home.open("go");
    let port = wait_until(SOON, "the task listens", || home.status(&id)["ports"][0].as_u64());
    (id, port)
}

#[test]
fn status_shows_the_ports_of_the_whole_tree() {
    let home = home();
    let script = listener("0").replacen("exec env", "env", 1);
    let id = home.start(&format!("{script} & wait"));
    assert_eq!(home.status(&id)["ports"], serde_json::json!([]));
    home.open("go");
    let task = wait_until(SOON, "the task listens", || {
        Some(home.status(&id)).filter(|task| task["ports"][0].is_u64())
    });
    let port = task["ports"][0].to_string();
    let shown = home.mw(["status", &id]).ok();
    assert!(shown.contains(&format!("ports      {port}")), "{shown}");
}

#[test]
fn an_ended_task_has_no_ports() {
    let home = home();
    let id = home.start("true");
    assert_eq!(home.ended(&id)["ports"], Value::Null);
}

#[test]
fn a_list_by_port_names_the_task() {
    let home = home();
    let _other = home.start(children::SLEEPER);
    let (id, port) = listening(&home);
    let answer = home.mw(["list", "--json", "--port", &port.to_string()]).exits(0).json();
    assert_eq!(answer["total"], 1, "{answer}");
    assert_eq!(answer["tasks"][0]["id"], id, "{answer}");
    assert_eq!(answer["tasks"][0]["ports"], serde_json::json!([port]), "{answer}");
    assert_eq!(answer["others"], serde_json::json!([]), "{answer}");
    assert!(home.mw(["list", "--port", &port.to_string()]).ok().contains(&id));
}

#[test]
fn a_list_by_port_names_a_survivor() {
    let home = home();
    let script = listener("0").replacen("exec env", "env", 1);
    let id = home.start(&format!("({script}) & exit 0"));
    home.ended(&id);
    home.open("go");
    let port = wait_until(SOON, "the survivor listens", || home.status(&id)["ports"][0].as_u64());
    let answer = home.mw(["list", "--json", "--port", &port.to_string()]).exits(0).json();
    assert_eq!(answer["tasks"][0]["id"], id, "{answer}");
}

#[test]
fn a_list_by_port_names_a_process_without_a_task() {
    let home = home();
    let held = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = held.local_addr().unwrap().port().to_string();
    let us = u64::from(std::process::id());
    let answer = home.mw(["list", "--json", "--port", &port]).exits(0).json();
    assert_eq!(answer["tasks"], serde_json::json!([]), "{answer}");
    let found = answer["others"].as_array().unwrap().iter().find(|other| other["pid"] == us);
    assert!(
        found.is_some_and(|other| other["command"].as_str().is_some_and(|line| !line.is_empty())),
        "{answer}"
    );
    assert!(home.mw(["list", "--port", &port]).ok().contains(&format!("process {us}, not a task")));
}

#[test]
fn a_session_sees_a_task_of_another_session_as_a_process() {
    let home = home();
    let (id, port) = listening(&home);
    let args = ["list", "--json", "--port", &port.to_string()];
    let answer = home.command(args).session("mine").run().exits(0).json();
    assert_eq!(answer["tasks"], serde_json::json!([]), "{answer}");
    assert_eq!(answer["others"][0]["pid"], home.status(&id)["pid"], "{answer}");
}

#[test]
fn a_port_without_a_listener_is_reported_as_free() {
    let home = home();
    let port = free_port();
    let answer = home.mw(["list", "--json", "--port", &port]).exits(0).json();
    assert_eq!(answer, serde_json::json!({"tasks": [], "total": 0, "others": []}));
    assert!(home.mw(["list", "--port", &port]).ok().contains("No visible process listens"));
    let _ = home.mw(["list", "--json", "--port", "0"]).refusal(2);
}

/// The number of unresponsive supervisors.
const UNRESPONSIVE: usize = 20;
/// Less than the time for [`UNRESPONSIVE`] supervisors if a command waited 0.8 seconds for each.
const PROMPT: Duration = Duration::from_secs(10);

/// Read commands wait only briefly for optional values, together for all tasks, and say which are missing.
#[test]
fn read_commands_wait_for_unresponsive_supervisors_concurrently() {
    let home = home().with_env("MEANWHILE_QUEUE_MAX_RUNNING", UNRESPONSIVE.to_string());
    let start = |_| home.start_with(&["--progress-fd"], children::SLEEPER);
    let ids: Vec<_> = (0..UNRESPONSIVE).map(start).collect();
    let stopped: Vec<_> = ids.iter().map(|id| home.pair(id).supervisor).collect();
    stopped.iter().for_each(|pid| assert!(kill_if(*pid, Signal::STOP, |_| true)));
    let timed = |words: &[&str]| {
        let begun = Instant::now();
        let outcome = home.mw(words).exits(0);
        assert!(begun.elapsed() < PROMPT, "{words:?} took {:?}", begun.elapsed());
        outcome
    };
    let status = timed(&["status", "--json", &ids[0]]).json();
    assert_eq!(status["untended"], "its supervisor does not answer", "{status}");
    assert_eq!(timed(&["list", "--json"]).json()["total"], UNRESPONSIVE);
    let port = timed(&["list", "--json", "--port", "1"]);
    assert_eq!(port.json()["silent"].as_array().map(Vec::len), Some(UNRESPONSIVE), "{port}");
    assert!(port.stderr_text().contains("does not answer"), "{port}");
    stopped.iter().for_each(|pid| assert!(kill_if(*pid, Signal::CONT, |_| true)));
}

#[test]
fn a_clear_says_that_it_waits_for_a_supervisor() {
    let home = home();
    let id = home.start(&children::gated("go", 0));
    let guardian = home.pair(&id).guardian;
    assert!(kill_if(guardian, Signal::STOP, |_| true));
    home.open("go");
    home.ended(&id);
    let clear = home.command(["clear", &id]).spawn();
    wait_until(SOON, "the command says what it waits for", || {
        clear.stderr_text().contains(&format!("for the supervisor of {id}")).then_some(())
    });
    assert!(kill_if(guardian, Signal::CONT, |_| true));
    assert_eq!(clear.wait().ok(), "cleared 1 task\n");
}
