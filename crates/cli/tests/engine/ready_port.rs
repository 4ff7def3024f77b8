//! `--ready-port`: a task is ready when a process of its tree listens.

use std::net::TcpListener;

use mw_testkit::children;

use crate::home;
use crate::wait::{free_port, listener};

#[test]
fn a_task_is_ready_when_it_listens_on_its_port() {
    let home = home();
    let port = free_port();
    let id = home.start_with(&["--ready-port", &port], &listener(&port));
    let waiting = home.command(["wait", "--json", &id, "--until", "ready"]).spawn();
    assert!(home.status(&id)["ready"].is_null());
    home.open("go");
    let answer = waiting.wait().exits(0).json();
    assert!(answer["tasks"][0]["ready"].is_string(), "{answer}");
    let events = home.mw(["watch", "--no-follow", "--task", &id]).exits(0).json_lines();
    let ready: Vec<_> = events.iter().filter(|event| event["event"] == "ready").collect();
    assert_eq!(ready.len(), 1, "{events:?}");
    assert_eq!(ready[0]["what"], format!("port {port}"));
}

#[test]
fn any_port_of_a_child_makes_the_task_ready() {
    let home = home();
    let script = format!("(setsid sh -c '{}' &); exec sleep 600", listener("0").replace('\'', "'\\''"));
    let id = home.start_with(&["--ready-port", "any"], &script);
    home.open("go");
    let _ = home.mw(["wait", &id, "--until", "ready"]).exits(0);
    let task = home.status(&id);
    assert_eq!(task["ports"].as_array().map(Vec::len), Some(1), "{task}");
}

#[test]
fn a_port_of_another_process_does_not_make_a_task_ready() {
    let home = home();
    let held = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = held.local_addr().unwrap().port().to_string();
    let id = home.start_with(&["--ready-port", &port], &children::gated("go", 0));
    let _ = home.helper(&id);
    let _ = home.mw(["wait", &id, "--until", "ready", "--timeout", "300ms"]).exits(124);
    home.open("go");
    assert!(home.ended(&id)["ready"].is_null());
}
