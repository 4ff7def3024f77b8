//! Kills the example host repeatedly: every ending is in exactly one stored message.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use meanwhile::Meanwhile;
use meanwhile::model::MessagePart;

const TASKS: usize = 40;
const SESSION: &str = "demo";

pub fn built(name: &str) -> PathBuf {
    let here = std::env::current_exe().unwrap();
    let file = here.parent().unwrap().parent().unwrap().join(name);
    assert!(file.exists(), "{} is missing: build the whole workspace with its examples", file.display());
    file
}

/// Runs the host and kills it after a number of printed lines; returns whether it finished first.
fn run(home: &std::path::Path, scripts: &[String], lines: usize) -> bool {
    let mut host = Command::new(built("examples/host"))
        .arg(home)
        .arg(SESSION)
        .args(scripts)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let printed = BufReader::new(host.stdout.take().unwrap()).lines().take(lines).count();
    host.kill().unwrap();
    host.wait().unwrap();
    printed < lines
}

#[test]
fn a_host_killed_at_any_moment_stores_each_ending_exactly_once() {
    let dir = tempfile::Builder::new().prefix("mw-host-").tempdir().unwrap();
    let home = dir.path().join("state");
    let scripts: Vec<_> = (0..TASKS).map(|at| format!("sleep 0.0{}; echo {at}", at % 10)).collect();
    // The host is killed after the last start, then at different places of the output.
    let mut done = run(&home, &scripts, TASKS);
    for lines in (1..).step_by(3).take(200) {
        if done {
            break;
        }
        done = run(&home, &[], lines);
    }
    assert!(done, "the host never finished");
    assert_each_ending_is_stored_once(home, TASKS);
}

/// Each of several hosts on one session is killed repeatedly.
#[test]
fn hosts_that_share_a_session_store_each_ending_exactly_once() {
    const HOSTS: usize = 3;
    const EACH: usize = 340;
    let dir = tempfile::Builder::new().prefix("mw-hosts-").tempdir().unwrap();
    let home = dir.path().join("state");
    let scripts: Vec<_> = (0..EACH).map(|at| format!("exit {}", at % 3)).collect();
    std::thread::scope(|scope| {
        for first in 1..=HOSTS {
            let (home, scripts) = (&home, &scripts);
            scope.spawn(move || {
                let mut done = run(home, scripts, EACH + first);
                for lines in (first..).step_by(53).take(400) {
                    if done {
                        return;
                    }
                    done = run(home, &[], lines);
                }
                assert!(done, "a host never finished");
            });
        }
    });
    assert_each_ending_is_stored_once(home, HOSTS * EACH);
}

/// Checks that the ending of each task is in exactly one stored message.
fn assert_each_ending_is_stored_once(home: PathBuf, tasks: usize) {
    let session = Meanwhile::open_at(home).unwrap().host(SESSION).unwrap();
    let mut stored: BTreeMap<String, usize> = BTreeMap::new();
    for part in session.messages().unwrap().into_iter().flat_map(|turn| turn.parts) {
        if let MessagePart::Notice { notice } = part {
            *stored.entry(notice.task.to_string()).or_default() += 1;
        }
    }
    assert_eq!(stored.len(), tasks, "an ending is missing");
    assert!(stored.values().all(|count| *count == 1), "an ending is stored twice: {stored:?}");
}
