//! Many calls at once, many calls in a row, and a client that never reads.

use std::fs;
use std::io::Write;
use std::thread;

use mw_testkit::host::{Host, text};
use mw_testkit::{SOON, children, wait_until};
use rustix::process::{Pid, Resource, Rlimit};
use serde_json::json;

use crate::home;

/// Returns a figure of a process: kilobytes of memory in use, or threads.
fn figure(pid: u32, name: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    line.trim_start_matches(':').trim().trim_end_matches(" kB").parse().unwrap()
}

fn descriptors(pid: u32) -> usize {
    fs::read_dir(format!("/proc/{pid}/fd")).unwrap().count()
}

#[test]
fn two_hundred_concurrent_waits_all_return() {
    let home = home();
    let mut host = Host::new(&home);
    let task = host.start(&children::gated("go", 3));
    let waits: Vec<_> = (0..200).map(|_| host.begin("task_wait", &json!({"task_ids": [task]}))).collect();
    let pid = host.server.pid();
    wait_until(SOON, "all of them wait", || (figure(pid, "Threads") > 200).then_some(()));
    assert!(text(&host.call("shell", &json!({"command": "echo meanwhile"}))).contains("meanwhile"));
    let memory = figure(pid, "VmRSS");
    assert!(memory < 300_000, "{memory} kB for 200 waits");
    home.open("go");
    for id in waits {
        let answer = host.answer(id);
        assert_eq!(answer["result"]["structuredContent"]["tasks"][0]["exit_code"], 3, "{answer}");
    }
    assert_eq!(host.notifications(), Vec::<String>::new());
}

#[test]
fn two_hundred_concurrent_calls_are_all_answered() {
    let home = home();
    let mut host = Host::new(&home);
    let task = host.start(children::SLEEPER);
    let calls: Vec<_> = (0..200)
        .map(|number| match number % 4 {
            0 => host.begin("shell", &json!({"command": format!("echo {number}")})),
            1 => host.begin("task_list", &json!({})),
            2 => host.begin("task_output", &json!({"task_id": task})),
            _ => host.begin("task_wait", &json!({"task_ids": [task], "timeout": 10})),
        })
        .collect();
    for (number, id) in calls.into_iter().enumerate() {
        let answer = host.answer(id);
        assert_eq!(answer["result"]["isError"], false, "{answer}");
        if number % 4 == 0 {
            let output = &answer["result"]["structuredContent"]["output"];
            assert_eq!(*output, format!("{number}\n"), "{answer}");
        }
    }
}

#[test]
fn more_waits_than_threads_do_not_block_other_calls() {
    let home = home();
    let mut host = Host::new(&home);
    let task = host.start(&children::gated("go", 3));
    let waits: Vec<_> = (0..600).map(|_| host.begin("task_wait", &json!({"task_ids": [task]}))).collect();
    let id = host.ask("ping", &json!({}));
    assert!(host.answer(id).get("result").is_some());
    assert!(figure(host.server.pid(), "Threads") < 400);
    for id in &waits[300..] {
        host.send(
            &json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}),
        );
    }
    home.open("go");
    for id in &waits[..300] {
        let answer = host.answer(*id);
        assert_eq!(answer["result"]["structuredContent"]["tasks"][0]["exit_code"], 3, "{answer}");
    }
}

#[test]
fn thousands_of_calls_leak_neither_memory_nor_descriptors() {
    let home = home();
    let mut host = Host::new(&home);
    let pid = host.server.pid();
    let mut run = |count: usize| {
        for number in 0..count {
            let result = match number % 50 {
                0 => host.call("shell", &json!({"command": "true"})),
                _ => host.call("task_list", &json!({})),
            };
            assert_eq!(result["isError"], false, "{result}");
        }
    };
    run(200);
    let (open, memory) = (descriptors(pid), figure(pid, "VmRSS"));
    run(2000);
    let (open_now, memory_now) = (descriptors(pid), figure(pid, "VmRSS"));
    assert!(open_now <= open + 4, "{open} descriptors became {open_now}");
    assert!(memory_now < memory + 20_000, "{memory} kB became {memory_now} kB");
    assert!(memory < 60_000, "{memory} kB without any work");
}

#[test]
fn a_client_that_never_reads_blocks_nothing_and_fills_no_memory() {
    let home = home();
    let mut host = Host::silent(home.command(["mcp"]).session("host"));
    let pid = host.server.pid();
    let mut input = host.server.take_input();
    let hello = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "deaf", "version": "1"}}});
    let start = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "shell",
        "arguments": {"command": "echo ran > ran; exec sleep 600", "run_in_background": true}}});
    let writing = thread::spawn(move || {
        let _ = writeln!(input, "{hello}\n{start}");
        let filler = "x".repeat(1000);
        for id in 2..60_000 {
            let call = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call",
                "params": {"name": "task_list", "arguments": {"odd": filler}}});
            if writeln!(input, "{call}").is_err() {
                break;
            }
        }
        input
    });
    wait_until(SOON, "the task runs", || home.has_file("ran").then_some(()));
    // Once it stops reading, the writer is blocked and memory does not grow further.
    let mut before = None;
    wait_until(SOON * 3, "the server reads no further", || {
        let now = fs::read_to_string(format!("/proc/{pid}/io")).ok();
        let _ = home.list();
        let is_unchanged = now == before;
        before = now;
        is_unchanged.then_some(())
    });
    let memory = figure(pid, "VmRSS");
    assert!(memory < 300_000, "{memory} kB");
    assert_eq!(home.list()[0]["status"], "running");
    host.server.signal(rustix::process::Signal::TERM);
    let _ = host.server.wait(SOON);
    assert!(writing.join().is_ok());
    assert_eq!(home.list()[0]["status"], "running");
}

#[test]
fn a_server_at_the_descriptor_limit_reports_no_wrong_state() {
    let home = home();
    let mut host = Host::new(&home);
    let task = host.start(&children::gated("go", 3));
    let other = host.start(children::SLEEPER);
    let pid = Pid::from_raw(host.server.pid() as i32);
    let few = Rlimit { current: Some(64), maximum: Some(64) };
    rustix::process::prlimit(pid, Resource::Nofile, few).unwrap();
    let waits: Vec<_> =
        (0..40).map(|_| host.begin("task_wait", &json!({"task_ids": [task, other], "timeout": 5}))).collect();
    for id in waits {
        let answer = host.answer(id).to_string();
        assert!(!answer.contains("lost"), "{answer}");
    }
    let tasks = home.list();
    assert!(tasks.len() == 2 && tasks.iter().all(|task| task["status"] == "running"), "{tasks:?}");
    home.open("go");
    let task = home.list().into_iter().find(|task| task["command"] != children::SLEEPER).unwrap();
    assert_eq!(home.ended(task["id"].as_str().unwrap())["exit_code"], 3);
}
