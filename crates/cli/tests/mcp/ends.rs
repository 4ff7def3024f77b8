//! How hosts end a server: by signals, by closing its input, or with its process group. No task ends with it.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use mw_testkit::host::Host;
use mw_testkit::{Home, SOON, alive, children, wait_until};
use rustix::process::Signal;
use serde_json::json;

use crate::home;

/// Hosts wait at least 2 s before they kill a server.
const QUICK: Duration = Duration::from_secs(2);

/// Repeats until a server has ended at once: other work may delay some of them, but not all.
fn until_quick(mut attempt: impl FnMut() -> Duration) {
    wait_until(SOON, "a server that ends at once", || (attempt() < QUICK).then_some(()));
}

/// Waits for the end of a server; returns its code and how long it took.
fn ended(host: &mut Host) -> (Option<i32>, Duration) {
    let begun = Instant::now();
    (host.server.wait(SOON), begun.elapsed())
}

/// Starts a server with a background task, a wait for it, and a foreground command. Returns the id of the task and the
/// pid of the command.
fn busy(home: &Home) -> (Host, String, u32) {
    let mut host = Host::new(home);
    let id = host.start(&children::gated("go", 3));
    let _ = host.begin("task_wait", &json!({"task_ids": [id]}));
    let script = format!("echo $$ > pid; {}", children::gated("go", 4));
    let _ = host.begin("shell", &json!({"command": script}));
    let pid = home.pid_in("pid");
    (host, id, pid)
}

fn end_and_find_again(end: impl Fn(&mut Host)) {
    until_quick(|| end_once_and_find_again(&end));
}

fn end_once_and_find_again(end: impl Fn(&mut Host)) -> Duration {
    let home = home();
    let (mut host, id, pid) = busy(&home);
    end(&mut host);
    let (_, took) = ended(&mut host);
    assert!(alive(pid), "the foreground command keeps running");
    assert_eq!(home.status(&id)["status"], "running");
    let mut next = Host::new(&home);
    let listed = next.call("task_list", &json!({"status": "running"}));
    assert_eq!(listed["structuredContent"]["total"], 2, "{listed}");
    home.open("go");
    let ids: BTreeSet<_> = home.list().iter().map(|task| task["id"].as_str().unwrap().to_owned()).collect();
    let all = next.all_notifications(2);
    assert_eq!(all.iter().cloned().collect::<BTreeSet<_>>(), ids, "both ends are notified");
    assert_eq!(all.len(), 2, "each end is notified once: {all:?}");
    took
}

#[test]
fn sigint_ends_the_server_at_once_but_no_task() {
    end_and_find_again(|host| host.server.signal(Signal::INT));
}

#[test]
fn sigterm_ends_the_server_at_once_but_no_task() {
    end_and_find_again(|host| host.server.signal(Signal::TERM));
}

#[test]
fn sighup_ends_the_server_at_once_but_no_task() {
    end_and_find_again(|host| host.server.signal(Signal::HUP));
}

#[test]
fn a_closed_input_ends_the_server_at_once_but_no_task() {
    end_and_find_again(|host| host.server.close());
}

#[test]
fn sigkill_to_the_group_ends_the_server_but_no_task() {
    end_and_find_again(|host| host.server.signal_group(Signal::KILL));
}

#[test]
fn sigterm_to_the_group_ends_the_server_but_no_task() {
    end_and_find_again(|host| host.server.signal_group(Signal::TERM));
}

#[test]
fn requests_before_the_end_of_input_are_answered() {
    until_quick(|| {
        let home = home();
        let mut host = Host::new(&home);
        let id = host.begin("shell", &json!({"command": "echo done"}));
        host.server.close();
        let answer = host.answer(id);
        assert_eq!(answer["result"]["isError"], false, "{answer}");
        let (code, took) = ended(&mut host);
        assert_eq!(code, Some(0), "{}", host.server.stderr_text());
        took
    });
}

#[test]
fn a_server_without_any_request_ends_without_an_error() {
    until_quick(|| {
        let home = home();
        let mut host = Host::silent(home.command(["mcp"]));
        host.server.close();
        let (code, took) = ended(&mut host);
        assert_eq!(code, Some(0), "{}", host.server.stderr_text());
        assert_eq!(host.server.stderr_text(), "");
        took
    });
}
