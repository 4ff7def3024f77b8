//! `mw kill` of several tasks: a failure of one neither delays nor hides the others.

use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use mw_testkit::processes::{kill_if, stat};
use mw_testkit::{Home, Running, SOON, alive, children, compiled, wait_until};
use rustix::process::Signal;
use serde_json::Value;

use crate::home;

/// Waits until the supervisor of a task accepts connections.
///
/// The existence of the socket is not enough: the file exists before the supervisor listens, and a supervisor that is
/// stopped in between refuses every request.
fn until_reachable(home: &Home, id: &str) {
    let socket = home.task_dir(id).join("control");
    wait_until(SOON, "the supervisor accepts connections", || UnixStream::connect(&socket).ok());
}

/// Stops a process and waits until it has stopped.
fn stop_process(pid: u32) {
    assert!(kill_if(pid, Signal::STOP, |_| true));
    wait_until(SOON, &format!("process {pid} is stopped"), || stat(pid).filter(|stat| stat.state == 'T'));
}

/// Stops the supervisor of a task, as a debugger or a suspended container does.
fn stop_supervisor(home: &Home, id: &str) {
    until_reachable(home, id);
    stop_process(home.pair(id).supervisor);
}

fn receipts(answer: &Value) -> Vec<&str> {
    answer["receipts"].as_array().unwrap().iter().map(|receipt| receipt["id"].as_str().unwrap()).collect()
}

#[test]
fn a_stopped_supervisor_is_continued_and_carries_out_the_kill() {
    let home = home();
    let ids = [(); 3].map(|()| home.start(children::SLEEPER));
    let pids = [0, 1, 2].map(|at| home.pid(&ids[at]));
    stop_supervisor(&home, &ids[0]);
    let begun = Instant::now();
    let answer = home.mw(["kill", "--json", "--grace", "1s", &ids[0], &ids[1], &ids[2]]).exits(0).json();
    assert_eq!(receipts(&answer), ids.iter().map(String::as_str).collect::<Vec<_>>(), "{answer}");
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    assert!(pids.iter().all(|pid| !alive(*pid)), "{answer}");
}

#[test]
fn a_task_whose_guardian_and_supervisor_are_stopped_can_be_restarted() {
    let home = home();
    let id = home.start(children::SLEEPER);
    until_reachable(&home, &id);
    stop_process(home.pair(&id).guardian);
    stop_supervisor(&home, &id);
    let _ = home.mw(["restart", &id]).ok();
    assert_eq!(home.status(&id)["runs"], 2);
    let _ = home.mw(["kill", &id]).ok();
}

#[test]
fn the_end_of_a_session_does_not_wait_for_a_stopped_supervisor() {
    let home = home().with_env("MEANWHILE_SESSION", "s1");
    let ids = [(); 2].map(|()| home.start(children::SLEEPER));
    stop_supervisor(&home, &ids[0]);
    let begun = Instant::now();
    let answer = home.mw(["session", "end", "s1", "--json"]).exits(0).json();
    assert_eq!(receipts(&answer).len(), 2, "{answer}");
    assert!(begun.elapsed() < Duration::from_secs(15), "{:?}", begun.elapsed());
}

#[test]
fn a_kill_reports_an_unresponsive_supervisor_beside_the_other_receipts() {
    let home = home();
    let ids = [(); 3].map(|()| home.start(children::SLEEPER));
    let pids = [0, 1, 2].map(|at| home.pid(&ids[at]));
    until_reachable(&home, &ids[1]);
    let supervisor = home.pair(&ids[1]).supervisor;
    // A debugger stops it, so that no signal continues it.
    let debugger = hold(&home, supervisor);
    let begun = Instant::now();
    let answer = home.mw(["kill", "--json", "--grace", "1s", &ids[0], &ids[1], &ids[2]]).exits(6).json();
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    assert_eq!(receipts(&answer), [&ids[0], &ids[2]], "{answer}");
    assert!(!alive(pids[0]) && alive(pids[1]) && !alive(pids[2]), "{answer}");
    let error = &answer["errors"][0];
    assert_eq!(
        (&error["id"], answer["errors"].as_array().unwrap().len()),
        (&ids[1].as_str().into(), 1),
        "{answer}"
    );
    assert!(error["message"].as_str().unwrap().contains(&format!("pid {supervisor}")), "{answer}");
    // It has received the request, and carries it out when it runs again.
    drop(debugger);
    kill_if(supervisor, Signal::CONT, |_| true);
    home.until_dead(pids[1]);
    assert_eq!(home.ended(&ids[1])["status"], "cancelled");
}

/// Traces a process and keeps it stopped until the debugger is killed.
fn hold(home: &Home, pid: u32) -> Running {
    let debugger = home.program(home.compile("debugger", compiled::DEBUGGER)).arg(pid.to_string()).spawn();
    wait_until(SOON, "the debugger has stopped its supervisor", || {
        stat(pid).filter(|stat| stat.state == 't')
    });
    debugger
}

#[test]
fn a_task_named_twice_has_one_receipt() {
    let home = home();
    let ids = [home.start(children::SLEEPER), home.start(children::SLEEPER)];
    let answer = home.mw(["kill", "--json", &ids[0], &ids[1], &ids[0]]).exits(0).json();
    assert_eq!(receipts(&answer), [&ids[0], &ids[1]], "{answer}");
}
