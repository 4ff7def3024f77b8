//! `mw wait`: for ends, patterns, ports and silence.

use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use mw_testkit::{SOON, alive, children, processes, wait_until};

use crate::home;

/// Names the port on which [`listens_when_requested`] listens.
const PORT: &str = "MW_TEST_LISTEN";

/// Not a test: a program that listens, for the tests below. Without the variable it does nothing.
#[test]
fn listens_when_requested() {
    let Ok(port) = std::env::var(PORT) else { return };
    let listener = TcpListener::bind(format!("127.0.0.1:{port}")).unwrap();
    for stream in listener.incoming() {
        drop(stream);
    }
}

/// Returns an unused port below the ephemeral range, so that the system assigns it to no other process.
pub(crate) fn free_port() -> String {
    let ports = (0..20_000).map(|number| 10_000 + (std::process::id() * 7 + number) % 20_000);
    let mut free = ports.filter(|port| TcpListener::bind(format!("127.0.0.1:{port}")).is_ok());
    free.next().unwrap().to_string()
}

/// Returns a script that listens when a gate opens. Port 0 stands for any port.
pub(crate) fn listener(port: &str) -> String {
    let program = std::env::current_exe().unwrap();
    let call = format!("'{}' --exact wait::listens_when_requested --nocapture", program.display());
    format!("{}; exec env {PORT}={port} {call}", children::gate("go"))
}

#[test]
fn a_wait_sleeps_until_the_end() {
    let home = home().with_env("MEANWHILE_WAIT_FALLBACK_MS", "60000");
    let id = home.start(&children::gated("go", 7));
    let waiting = home.command(["wait", &id]).spawn();
    processes::until_asleep(Duration::from_millis(1200), &[waiting.pid()]);
    home.open("go");
    // The interval of the fallback polling is longer than the deadline of the kit.
    let _ = waiting.wait().exits(7);
}

#[test]
fn wait_exits_with_the_code_of_the_task() {
    let home = home();
    let id = home.start(&children::gated("go", 7));
    let waiting = home.command(["wait", "--json", &id]).spawn();
    home.until_logged(&id, "waiting");
    assert!(waiting.runs());
    home.open("go");
    let answer = waiting.wait().exits(7).json();
    assert_eq!(answer["timed_out"], false, "{answer}");
    assert_eq!(answer["tasks"][0]["exit_code"], 7, "{answer}");
    assert_eq!(answer["met"], serde_json::json!([id]), "{answer}");
}

#[test]
fn waiting_for_an_ended_task_returns_at_once() {
    let home = home();
    let id = home.start("exit 9");
    home.ended(&id);
    for _ in 0..2 {
        let _ = home.mw(["wait", &id]).exits(9);
    }
}

#[test]
fn a_wait_for_several_tasks_exits_with_the_first_failure_in_order() {
    let home = home();
    let ids = ["exit 0", "exit 5", "exit 6"].map(|script| home.start(script));
    let _ = home.mw(["wait", &ids[0], &ids[1], &ids[2]]).exits(5);
    let _ = home.mw(["wait", &ids[2], &ids[1], &ids[0]]).exits(6);
    let _ = home.mw(["wait", &ids[0]]).exits(0);
}

#[test]
fn a_wait_for_several_tasks_ends_with_the_last() {
    let home = home();
    let (quick, slow) = (home.start("exit 0"), home.start(&children::gated("go", 0)));
    let waiting = home.command(["wait", "--json", &quick, &slow]).spawn();
    home.ended(&quick);
    assert!(waiting.runs());
    home.open("go");
    let answer = waiting.wait().exits(0).json();
    assert_eq!(answer["met"].as_array().map(Vec::len), Some(2), "{answer}");
}

#[test]
fn a_wait_for_any_ends_with_the_first() {
    let home = home();
    let (slow, quick) = (home.start(children::SLEEPER), home.start(&children::gated("go", 3)));
    let waiting = home.command(["wait", "--json", "--any", &slow, &quick]).spawn();
    home.open("go");
    let answer = waiting.wait().exits(3).json();
    assert_eq!(answer["met"], serde_json::json!([quick]), "{answer}");
    assert_eq!(home.status(&slow)["status"], "running");
}

#[test]
fn a_batch_can_be_waited_for() {
    let home = home();
    let mut inside: Vec<_> =
        [0, 4].map(|code| home.start_with(&["--batch", "b1"], &format!("exit {code}"))).into();
    let _outside = home.start(children::SLEEPER);
    let outcome = home.mw(["wait", "--json", "--batch", "b1"]).exits(4);
    let answer = outcome.json();
    let mut met: Vec<_> = answer["met"].as_array().unwrap().iter().map(|id| id.as_str().unwrap()).collect();
    met.sort_unstable();
    inside.sort_unstable();
    assert_eq!(met, inside);
}

#[test]
fn a_wait_that_times_out_says_so_and_changes_nothing() {
    let home = home();
    let id = home.start(children::SLEEPER);
    let pid = home.pid(&id);
    let answer = home.mw(["wait", "--json", &id, "--timeout", "200ms"]).exits(124).json();
    assert_eq!(answer["timed_out"], true, "{answer}");
    assert_eq!(answer["met"], serde_json::json!([]), "{answer}");
    assert_eq!(answer["tasks"][0]["status"], "running", "{answer}");
    assert!(alive(pid));
}

#[test]
fn a_wait_of_zero_time_checks_once() {
    let home = home();
    let (live, over) = (home.start(children::SLEEPER), home.start("exit 2"));
    home.ended(&over);
    let _ = home.mw(["wait", &live, "--timeout", "0"]).exits(124);
    let _ = home.mw(["wait", &over, "--timeout", "0"]).exits(2);
}

#[test]
fn a_wait_for_a_task_that_times_out_exits_with_124() {
    let home = home();
    let id = home.start_with(&["--timeout", "200ms"], children::SLEEPER);
    let answer = home.mw(["wait", "--json", &id]).exits(124).json();
    assert_eq!(answer["timed_out"], false, "{answer}");
    assert_eq!(answer["tasks"][0]["status"], "timed_out", "{answer}");
}

#[test]
fn a_wait_for_a_killed_task_fails() {
    let home = home();
    let id = home.start(children::SLEEPER);
    let waiting = home.command(["wait", &id]).spawn();
    let _ = home.mw(["kill", &id]).ok();
    let outcome = waiting.wait();
    assert_ne!(outcome.code, Some(0), "{outcome}");
}

#[test]
fn a_wait_for_a_pattern_ends_with_a_match() {
    let home = home();
    let id = home.start(&format!("{}; echo listening on 80; {}", children::gate("go"), children::SLEEPER));
    let waiting = home.command(["wait", "--json", &id, "--until", "match=listening on [0-9]+"]).spawn();
    home.open("go");
    let answer = waiting.wait().exits(0).json();
    assert_eq!(answer["met"], serde_json::json!([id]), "{answer}");
    assert_eq!(home.status(&id)["status"], "running");
}

#[test]
fn a_pattern_printed_before_the_wait_matches() {
    let home = home();
    let id = home.start("echo ready; exec sleep 600");
    home.until_logged(&id, "ready");
    let _ = home.mw(["wait", &id, "--until", "match=^ready$"]).exits(0);
}

#[test]
fn a_pattern_is_found_across_two_writes() {
    let home = home();
    let id = home.start(&format!("printf lis; {}; printf tening; exec sleep 600", children::gate("go")));
    home.until_logged(&id, "lis");
    let waiting = home.command(["wait", &id, "--until", "match=listening"]).spawn();
    home.open("go");
    let _ = waiting.wait().exits(0);
}

#[test]
fn a_pattern_in_an_incomplete_last_line_matches() {
    let home = home();
    let id = home.start("printf done");
    home.ended(&id);
    let _ = home.mw(["wait", &id, "--until", "match=done$"]).exits(0);
}

#[test]
fn a_wait_for_a_pattern_fails_when_the_task_ends_first() {
    let home = home();
    let id = home.start(&children::gated("go", 0));
    let waiting = home.command(["wait", "--json", &id, "--until", "match=never"]).spawn();
    home.open("go");
    let outcome = waiting.wait().exits(8);
    assert_eq!(outcome.json()["met"], serde_json::json!([]), "{outcome}");
}

#[test]
fn a_wait_for_a_port_ends_when_it_is_open() {
    let home = home();
    let port = free_port();
    let id = home.start(&listener(&port));
    let waiting = home.command(["wait", &id, "--until", &format!("port={port}")]).spawn();
    assert!(waiting.runs());
    home.open("go");
    let _ = waiting.wait().exits(0);
    assert_eq!(home.status(&id)["status"], "running");
}

#[test]
fn a_port_open_before_the_wait_counts() {
    let home = home();
    let port = free_port();
    home.open("go");
    let id = home.start(&listener(&port));
    wait_until(SOON, "the port is open", || TcpStream::connect(format!("127.0.0.1:{port}")).ok());
    let _ = home.mw(["wait", &id, "--until", &format!("port={port}")]).exits(0);
}

#[test]
fn a_wait_for_a_port_fails_when_the_task_ends_first() {
    let home = home();
    let id = home.start("exit 0");
    let _ = home.mw(["wait", &id, "--until", &format!("port={}", free_port())]).exits(8);
}

#[test]
fn a_wait_for_silence_ends_after_silence() {
    let home = home();
    let script = format!("while [ ! -e quiet ]; do echo tick; sleep 0.05; done; {}", children::SLEEPER);
    let id = home.start(&script);
    let waiting = home.command(["wait", &id, "--until", "silence=5s"]).spawn();
    home.until_logged(&id, "tick\ntick\ntick\n");
    assert!(waiting.runs());
    home.open("quiet");
    let _ = waiting.wait().exits(0);
}

#[test]
fn a_wait_for_silence_fails_when_the_task_ends_first() {
    let home = home();
    let id = home.start("echo a");
    let _ = home.mw(["wait", &id, "--until", "silence=1h"]).exits(8);
}

#[test]
fn a_wait_for_a_condition_can_time_out() {
    let home = home();
    let id = home.start(children::SLEEPER);
    let args = ["wait", "--json", &id, "--until", "match=x", "--timeout", "200ms"];
    assert_eq!(home.mw(args).exits(124).json()["timed_out"], true);
}

#[test]
fn a_wait_for_a_queued_task_lasts_until_its_end() {
    let home = home().with_env("MEANWHILE_QUEUE_MAX_RUNNING", "1");
    let (_first, second) = (home.start(&children::gated("go", 0)), home.start("exit 6"));
    let waiting = home.command(["wait", &second]).spawn();
    home.open("go");
    let _ = waiting.wait().exits(6);
}

#[test]
fn many_concurrent_waits_for_one_task_all_return() {
    let home = home();
    let id = home.start(&children::gated("go", 5));
    let waiting: Vec<_> = (0..6).map(|_| home.command(["wait", &id]).spawn()).collect();
    home.open("go");
    for one in waiting {
        let _ = one.wait().exits(5);
    }
}
