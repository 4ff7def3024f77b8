//! `mw kill` of several tasks: what fails for one neither delays nor hides the others.

use std::time::{Duration, Instant};

use mw_testkit::processes::{kill_if, stat};
use mw_testkit::{Home, Running, SOON, alive, children, compiled, wait_until};
use rustix::process::Signal;
use serde_json::Value;

use crate::home;

/// Stops a task's supervisor, as a debugger or a full suspend would.
fn freeze(home: &Home, id: &str) -> u32 {
    let supervisor = home.pair(id).supervisor;
    assert!(kill_if(supervisor, Signal::STOP, |_| true));
    wait_until(SOON, "its supervisor is stopped", || stat(supervisor).filter(|stat| stat.state == 'T'));
    supervisor
}

fn receipts(answer: &Value) -> Vec<&str> {
    answer["receipts"].as_array().unwrap().iter().map(|receipt| receipt["id"].as_str().unwrap()).collect()
}

#[test]
fn a_stopped_supervisor_is_continued_and_kills() {
    let home = home();
    let ids = [(); 3].map(|()| home.start(children::SLEEPER));
    let pids = [0, 1, 2].map(|at| home.pid(&ids[at]));
    freeze(&home, &ids[0]);
    let begun = Instant::now();
    let answer = home.mw(["kill", "--json", "--grace", "1s", &ids[0], &ids[1], &ids[2]]).exits(0).json();
    assert_eq!(receipts(&answer), ids.iter().map(String::as_str).collect::<Vec<_>>(), "{answer}");
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    assert!(pids.iter().all(|pid| !alive(*pid)), "{answer}");
}

#[test]
fn a_task_whose_guardian_and_supervisor_are_stopped_is_restarted() {
    let home = home();
    let id = home.start(children::SLEEPER);
    let socket = home.task_dir(&id).join("control");
    wait_until(SOON, "its supervisor can be asked", || socket.exists().then_some(()));
    let guardian = home.pair(&id).guardian;
    assert!(kill_if(guardian, Signal::STOP, |_| true));
    freeze(&home, &id);
    let _ = home.mw(["restart", &id]).ok();
    assert_eq!(home.status(&id)["runs"], 2);
    let _ = home.mw(["kill", &id]).ok();
}

#[test]
fn the_end_of_a_session_does_not_wait_for_a_stopped_supervisor() {
    let home = home().with_env("MEANWHILE_SESSION", "s1");
    let ids = [(); 2].map(|()| home.start(children::SLEEPER));
    freeze(&home, &ids[0]);
    let begun = Instant::now();
    let answer = home.mw(["session", "end", "s1", "--json"]).exits(0).json();
    assert_eq!(receipts(&answer).len(), 2, "{answer}");
    assert!(begun.elapsed() < Duration::from_secs(15), "{:?}", begun.elapsed());
}

#[test]
fn a_supervisor_that_cannot_answer_is_told_beside_the_receipts_of_the_others() {
    let home = home();
    let ids = [(); 3].map(|()| home.start(children::SLEEPER));
    let pids = [0, 1, 2].map(|at| home.pid(&ids[at]));
    let supervisor = home.pair(&ids[1]).supervisor;
    // A debugger holds it: no signal makes it run again.
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
    // It has the request.
    drop(debugger);
    kill_if(supervisor, Signal::CONT, |_| true);
    home.until_dead(pids[1]);
    assert_eq!(home.ended(&ids[1])["status"], "cancelled");
}

/// Traces a process and never lets it run, until the debugger is killed.
fn hold(home: &Home, pid: u32) -> Running {
    let debugger = home.program(home.compile("debugger", compiled::DEBUGGER)).arg(pid.to_string()).spawn();
    wait_until(SOON, "its supervisor is held", || stat(pid).filter(|stat| stat.state == 't'));
    debugger
}

#[test]
fn a_task_that_is_named_twice_has_one_receipt() {
    let home = home();
    let ids = [home.start(children::SLEEPER), home.start(children::SLEEPER)];
    let answer = home.mw(["kill", "--json", &ids[0], &ids[1], &ids[0]]).exits(0).json();
    assert_eq!(receipts(&answer), [&ids[0], &ids[1]], "{answer}");
}
