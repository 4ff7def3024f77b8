//! Notifications before replies: each is delivered once, also when a server is killed.
//!
//! The rule: notifications are acknowledged after their reply was written. If a server is killed before the
//! write, the next one delivers them. If it is killed between the write and the acknowledgement, the next one
//! delivers them again. Nothing else is delivered twice, and nothing is lost.

use std::collections::BTreeSet;
use std::path::PathBuf;

use meanwhile::engine::{DeliveryState, Runtime};
use meanwhile::settings::Executables;
use meanwhile::{Scope, Settings};
use mw_testkit::host::{Host, notified_tasks};
use mw_testkit::{Home, SOON, children, wait_until};
use serde_json::json;

use crate::home;

fn ended(home: &Home, host: &mut Host, count: usize) -> BTreeSet<String> {
    let ids: BTreeSet<_> = (0..count).map(|_| host.start("exit 3")).collect();
    ids.iter().for_each(|id| drop(home.ended(id)));
    ids
}

/// Opens the library on the home of a test.
fn runtime(home: &Home) -> Runtime {
    let programs = Executables { supervisor: PathBuf::new(), settle: Vec::new(), starter_exits: false };
    Runtime::open(Settings::new(home.state().to_path_buf(), programs)).unwrap()
}

/// Returns ended tasks of the session without a delivered notification.
pub(crate) fn undelivered(home: &Home, count: usize) -> BTreeSet<String> {
    let start = |_| {
        let started = home.command(["start", "--json", "exit 3"]).session("host").run().json();
        started["id"].as_str().unwrap().to_owned()
    };
    let ids: BTreeSet<_> = (0..count).map(start).collect();
    ids.iter().for_each(|id| drop(home.ended(id)));
    ids
}

fn dying(home: &Home, at: &str) -> Host {
    Host::of(home.command(["mcp"]).session("host").env("MEANWHILE_FAIL_AT", at))
}

#[test]
fn the_next_reply_begins_with_the_notification_once() {
    let home = home();
    let mut host = Host::new(&home);
    let ids = undelivered(&home, 3);
    let result = host.call("task_list", &json!({}));
    assert_eq!(notified_tasks(&result).into_iter().collect::<BTreeSet<_>>(), ids, "{result}");
    assert_eq!(result["structuredContent"]["notices"].as_array().map(Vec::len), Some(3), "{result}");
    let last = result["content"].as_array().unwrap().last().unwrap()["text"].as_str().unwrap();
    assert!(!last.contains("task-notification"), "the reply itself comes last: {result}");
    assert_eq!(host.notifications(), Vec::<String>::new());
}

#[test]
fn a_refusal_begins_with_the_notification_too() {
    let home = home();
    let mut host = Host::new(&home);
    let ids = undelivered(&home, 1);
    let refused = host.call("task_output", &json!({"task_id": "bash-00000000"}));
    assert_eq!(refused["isError"], true);
    assert_eq!(notified_tasks(&refused).into_iter().collect::<BTreeSet<_>>(), ids, "{refused}");
    assert_eq!(host.notifications(), Vec::<String>::new());
}

#[test]
fn notifications_of_a_server_killed_before_writing_are_delivered_again() {
    for at in ["notices-handed-over", "reply-ready"] {
        let home = home();
        let ids = undelivered(&home, 3);
        for _ in 0..2 {
            let mut host = dying(&home, at);
            let call = host.begin("task_list", &json!({}));
            let _ = host.server.wait(SOON);
            assert!(!host.has_answer(call, SOON), "{at}");
        }
        let mut next = Host::new(&home);
        assert_eq!(next.notifications().into_iter().collect::<BTreeSet<_>>(), ids, "{at}");
        assert_eq!(next.notifications(), Vec::<String>::new(), "{at}");
    }
}

/// The reply to a stop reports the end. A server that is killed before it sends the kill must not hide the end.
#[test]
fn an_end_is_notified_after_its_server_was_killed_before_the_stop() {
    let home = home();
    let started = home.command(["start", "--json", &children::gated("go", 3)]).session("host").run().json();
    let id = started["id"].as_str().unwrap().to_owned();
    let mut host = dying(&home, "kill-claimed");
    let call = host.begin("task_stop", &json!({"task_ids": [id]}));
    let _ = host.server.wait(SOON);
    assert!(!host.has_answer(call, SOON));
    assert_eq!(home.status(&id)["status"], "running", "nothing has ended it");
    home.open("go");
    let _ = home.ended(&id);
    assert_eq!(Host::new(&home).notifications(), [id]);
}

#[test]
fn notifications_written_but_not_acknowledged_are_delivered_again() {
    let home = home();
    let ids = undelivered(&home, 2);
    let mut host = dying(&home, "reply-written");
    let call = host.begin("task_list", &json!({}));
    let answer = host.answer(call);
    assert_eq!(notified_tasks(&answer["result"]).into_iter().collect::<BTreeSet<_>>(), ids, "it was written");
    let _ = host.server.wait(SOON);
    let mut next = Host::new(&home);
    assert_eq!(next.notifications().into_iter().collect::<BTreeSet<_>>(), ids, "delivered again");
    assert_eq!(next.notifications(), Vec::<String>::new());
}

#[test]
fn acknowledged_notifications_are_not_delivered_again() {
    let home = home();
    let ids = undelivered(&home, 2);
    let mut host = dying(&home, "notices-acknowledged");
    let call = host.begin("task_list", &json!({}));
    let answer = host.answer(call);
    assert_eq!(notified_tasks(&answer["result"]).into_iter().collect::<BTreeSet<_>>(), ids);
    let _ = host.server.wait(SOON);
    assert_eq!(Host::new(&home).notifications(), Vec::<String>::new());
}

#[test]
fn the_end_of_a_foreground_command_is_only_in_its_reply() {
    let home = home();
    let mut host = Host::new(&home);
    let ran = host.call("shell", &json!({"command": "exit 3"}));
    assert_eq!(ran["structuredContent"]["exit_code"], 3, "{ran}");
    assert_eq!(host.notifications(), Vec::<String>::new());
    wait_until(SOON, "a command with a complete reply is removed", || home.list().is_empty().then_some(()));
}

#[test]
fn the_next_server_notifies_the_end_of_a_killed_servers_command() {
    let home = home();
    let mut host = Host::new(&home);
    let _ = host.begin("shell", &json!({"command": format!("echo $$ > pid; {}", children::gated("go", 3))}));
    let _ = home.pid_in("pid");
    host.server.signal(rustix::process::Signal::KILL);
    let _ = host.server.wait(SOON);
    let mut next = Host::new(&home);
    assert_eq!(next.notifications(), Vec::<String>::new(), "it still runs");
    home.open("go");
    let id = home.list()[0]["id"].as_str().unwrap().to_owned();
    assert_eq!(home.ended(&id)["exit_code"], 3);
    assert_eq!(next.all_notifications(1), [id]);
}

#[test]
fn the_next_server_notifies_an_end_whose_reply_was_never_written() {
    let home = home();
    let mut host = dying(&home, "reply-ready");
    let call = host.begin("shell", &json!({"command": "exit 3"}));
    let _ = host.server.wait(SOON);
    assert!(!host.has_answer(call, SOON));
    let id = home.list()[0]["id"].as_str().unwrap().to_owned();
    assert_eq!(Host::new(&home).all_notifications(1), [id]);
}

#[test]
fn a_cancelled_call_delivers_no_notification() {
    let home = home();
    let mut host = Host::new(&home);
    let sleeper = host.start(children::SLEEPER);
    let wait = host.begin("task_wait", &json!({"task_ids": [sleeper]}));
    let ids = undelivered(&home, 2);
    host.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": wait}}));
    let all = host.all_notifications(2);
    assert_eq!(all.len(), 2, "{all:?}");
    assert_eq!(all.into_iter().collect::<BTreeSet<_>>(), ids);
}

#[test]
fn an_end_reserved_by_a_wait_is_in_no_other_reply() {
    let home = home();
    let mut host = Host::new(&home);
    let first = host.start(&children::gated("first", 3));
    let second = host.start(&children::gated("second", 4));
    let wait = host.begin("task_wait", &json!({"task_ids": [first, second]}));
    // The list is answered after the wait has begun, because calls are read in order.
    assert_eq!(host.notifications(), Vec::<String>::new());
    home.open("first");
    let _ = home.ended(&first);
    assert_eq!(host.notifications(), Vec::<String>::new(), "the wait reports it");
    home.open("second");
    let _ = home.ended(&second);
    let answer = host.answer(wait);
    assert_eq!(notified_tasks(&answer["result"]), Vec::<String>::new(), "{answer}");
    let said = answer["result"].to_string();
    assert!(said.contains(&first) && said.contains(&second), "{answer}");
    assert_eq!(host.notifications(), Vec::<String>::new());
}

#[test]
fn an_end_reserved_by_a_wait_is_not_notified_by_another_server() {
    let home = home();
    let (mut one, mut other) = (Host::new(&home), Host::new(&home));
    let first = one.start(&children::gated("first", 3));
    let sleeper = one.start(children::SLEEPER);
    let wait = one.begin("task_wait", &json!({"task_ids": [first, sleeper]}));
    let is_claimed =
        || runtime(&home).notifications().awaited("host").unwrap().iter().any(|id| id.as_str() == first);
    wait_until(SOON, "the wait has reserved the end", || is_claimed().then_some(()));
    home.open("first");
    let _ = home.ended(&first);
    assert_eq!(other.notifications(), Vec::<String>::new(), "the wait reports it");
    let params = json!({"requestId": wait});
    one.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}));
    assert_eq!(other.all_notifications(1), [first], "after the cancellation, the next reply has it");
}

/// The order of execution does not matter.
#[test]
fn a_wait_and_another_call_in_one_write_report_an_end_once() {
    const ROUNDS: usize = 100;
    let home = home();
    let mut host = Host::new(&home);
    for round in 0..ROUNDS {
        let id = undelivered(&home, 1).into_iter().next().unwrap();
        let waits = ("task_wait", json!({"task_ids": [id]}));
        let lists = ("task_list", json!({"status": "running"}));
        let [first, second] =
            host.begin_together(if round % 2 == 0 { [waits, lists] } else { [lists, waits] });
        let (first, second) = (host.answer(first), host.answer(second));
        let (waited, listed) = if round % 2 == 0 { (first, second) } else { (second, first) };
        assert!(waited["result"].to_string().contains("exit 3"), "{waited}");
        assert_eq!(notified_tasks(&waited["result"]), Vec::<String>::new(), "{waited}");
        if round % 2 == 0 {
            assert_eq!(
                notified_tasks(&listed["result"]),
                Vec::<String>::new(),
                "round {round}: the wait reports it"
            );
        }
        assert_eq!(host.notifications(), Vec::<String>::new(), "round {round}");
    }
}

/// A reply that is complete but not written yet leaves the end to a new wait.
#[test]
fn a_wait_takes_an_end_out_of_an_unwritten_reply() {
    let home = home().with_env("MEANWHILE_TOOLS_REPLY_BYTES", "200000");
    let mut host = Host::silent(home.command(["mcp"]).session("host"));
    let hello = json!({
        "protocolVersion": "2025-11-25", "clientInfo": {"name": "test", "version": "1"},
        "capabilities": {"experimental": {"meanwhile/structured": {}}},
    });
    let _ = host.ask("initialize", &hello);
    host.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    // The host does not read: this reply blocks in the pipe, and later ones wait behind it.
    let _ = host.begin("shell", &json!({"command": "yes | head -c 150000"}));
    wait_until(SOON, "the pipe is full", || (host.server.unread_bytes() >= 60_000).then_some(()));
    let id = undelivered(&home, 1).into_iter().next().unwrap();
    let state_of = |id: &str| runtime(&home).notifications().notices_of(id, &Scope::All).unwrap()[0].state;
    let list = host.begin("task_list", &json!({"status": "running"}));
    wait_until(SOON, "the reply to the list has taken the notification", || {
        (state_of(&id) == DeliveryState::HandedOver).then_some(())
    });
    let wait = host.begin("task_wait", &json!({"task_ids": [id]}));
    wait_until(SOON, "the server has read the wait", || (host.server.untaken_bytes() == 0).then_some(()));
    let (listed, waited) = (host.answer(list), host.answer(wait));
    assert_eq!(notified_tasks(&listed["result"]), Vec::<String>::new(), "{listed}");
    assert!(listed["result"]["structuredContent"]["notices"].is_null(), "{listed}");
    assert!(waited["result"].to_string().contains("exit 3"), "{waited}");
    assert_eq!(host.notifications(), Vec::<String>::new());
    assert_eq!(state_of(&id), DeliveryState::Known);
}

#[test]
fn the_next_reply_begins_with_an_end_whose_wait_was_cancelled() {
    let home = home();
    let mut host = Host::new(&home);
    let first = host.start(&children::gated("first", 3));
    let sleeper = host.start(children::SLEEPER);
    let wait = host.begin("task_wait", &json!({"task_ids": [first, sleeper]}));
    assert_eq!(host.notifications(), Vec::<String>::new());
    home.open("first");
    let _ = home.ended(&first);
    host.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": wait}}));
    assert_eq!(host.all_notifications(1), [first]);
}

#[test]
fn parallel_waits_report_each_end_once() {
    const ROUNDS: usize = 5;
    const AT_A_TIME: usize = 6;
    let home = home();
    let mut host = Host::new(&home);
    for round in 0..ROUNDS {
        let gate = format!("go{round}");
        let ids: Vec<_> = (0..AT_A_TIME).map(|_| host.start(&children::gated(&gate, 3))).collect();
        let waits: Vec<_> =
            ids.iter().map(|id| host.begin("task_wait", &json!({"task_ids": [id]}))).collect();
        assert_eq!(host.notifications(), Vec::<String>::new());
        home.open(&gate);
        for (id, wait) in ids.iter().zip(waits) {
            let answer = host.answer(wait);
            assert_eq!(
                notified_tasks(&answer["result"]),
                Vec::<String>::new(),
                "a wait reports only its task: {answer}"
            );
            assert!(answer["result"].to_string().contains(id.as_str()), "{answer}");
        }
    }
    assert_eq!(host.notifications(), Vec::<String>::new());
}

#[test]
fn two_servers_of_one_session_deliver_each_notification_once() {
    let home = home().with_env("MEANWHILE_QUEUE_MAX_RUNNING", "4");
    let (mut one, mut other) = (Host::new(&home), Host::new(&home));
    let mut all = Vec::new();
    let mut ids = BTreeSet::new();
    for _ in 0..6 {
        ids.extend(undelivered(&home, 3));
        let (first, second) = (one.begin("task_list", &json!({})), other.begin("task_list", &json!({})));
        all.extend(notified_tasks(&one.answer(first)["result"]));
        all.extend(notified_tasks(&other.answer(second)["result"]));
    }
    all.extend(one.notifications());
    all.extend(other.notifications());
    assert_eq!(all.len(), ids.len(), "no notification is repeated or lost");
    assert_eq!(all.into_iter().collect::<BTreeSet<_>>(), ids);
}

#[test]
fn no_notification_for_a_task_whose_output_was_read_to_the_end() {
    let home = home();
    let mut host = Host::new(&home);
    let id = ended(&home, &mut host, 1).into_iter().next().unwrap();
    // If it ended quickly, its notification may be in the reply to its start.
    let read = host.call("task_output", &json!({"task_id": id}));
    assert_eq!(notified_tasks(&read), Vec::<String>::new(), "{read}");
    assert_eq!(host.notifications(), Vec::<String>::new());
}

#[test]
fn notifications_that_do_not_fit_come_with_later_replies() {
    const MAX: usize = 16 << 10;
    let home = home();
    let mut host = Host::new(&home);
    let ids = undelivered(&home, 60);
    let mut all = BTreeSet::new();
    let mut replies = 0;
    while all.len() < ids.len() {
        let result = host.call("task_wait", &json!({"task_ids": ["bash-00000000"]}));
        let blocks = result["content"].as_array().unwrap().iter();
        let size: usize = blocks.map(|block| block["text"].as_str().unwrap().len()).sum();
        assert!(size < MAX, "{size} bytes in one reply");
        let new = notified_tasks(&result);
        assert!(!new.is_empty(), "{} of {} are delivered", all.len(), ids.len());
        assert!(new.into_iter().all(|id| all.insert(id)), "nothing is delivered twice");
        replies += 1;
    }
    assert!(replies > 1 && all == ids);
    assert_eq!(host.notifications(), Vec::<String>::new());
}
