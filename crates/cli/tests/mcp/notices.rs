//! News in front of replies: all of it, once, whoever dies when.
//!
//! The rule: what a reply tells is acknowledged once the reply has been written. A server that is killed before the
//! write has told nothing, and the next one tells it. One that is killed between the write and the acknowledgement
//! has told it, and the next one tells it again. Nothing else is told twice, and nothing is lost.

use std::collections::BTreeSet;
use std::path::PathBuf;

use meanwhile::engine::{Runtime, Told};
use meanwhile::{Programs, Scope, Settings};
use mw_testkit::host::{Host, told};
use mw_testkit::{Home, SOON, children, wait_until};
use serde_json::json;

use crate::home;

fn ended(home: &Home, host: &mut Host, count: usize) -> BTreeSet<String> {
    let ids: BTreeSet<_> = (0..count).map(|_| host.start("exit 3")).collect();
    ids.iter().for_each(|id| drop(home.ended(id)));
    ids
}

/// The library, on the home of a test.
fn runtime(home: &Home) -> Runtime {
    let programs = Programs { supervisor: PathBuf::new(), settle: Vec::new(), starter_exits: false };
    Runtime::open(Settings::new(home.state().to_path_buf(), programs)).unwrap()
}

/// Tasks of the session that have ended and of which nothing was told.
fn untold(home: &Home, count: usize) -> BTreeSet<String> {
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
fn news_leads_the_next_reply_and_no_other() {
    let home = home();
    let mut host = Host::new(&home);
    let ids = untold(&home, 3);
    let result = host.call("task_list", &json!({}));
    assert_eq!(told(&result).into_iter().collect::<BTreeSet<_>>(), ids, "{result}");
    assert_eq!(result["structuredContent"]["notices"].as_array().map(Vec::len), Some(3), "{result}");
    let last = result["content"].as_array().unwrap().last().unwrap()["text"].as_str().unwrap();
    assert!(!last.contains("task-notification"), "the reply itself comes last: {result}");
    assert_eq!(host.news(), Vec::<String>::new());
}

#[test]
fn news_leads_a_refusal_as_well() {
    let home = home();
    let mut host = Host::new(&home);
    let ids = untold(&home, 1);
    let refused = host.call("task_output", &json!({"task_id": "bash-00000000"}));
    assert_eq!(refused["isError"], true);
    assert_eq!(told(&refused).into_iter().collect::<BTreeSet<_>>(), ids, "{refused}");
    assert_eq!(host.news(), Vec::<String>::new());
}

#[test]
fn a_server_killed_before_it_wrote_has_told_nothing() {
    for at in ["notices-handed-over", "reply-ready"] {
        let home = home();
        let ids = untold(&home, 3);
        for _ in 0..2 {
            let mut host = dying(&home, at);
            let call = host.begin("task_list", &json!({}));
            let _ = host.server.wait(SOON);
            assert!(!host.has_answer(call, SOON), "{at}");
        }
        let mut next = Host::new(&home);
        assert_eq!(next.news().into_iter().collect::<BTreeSet<_>>(), ids, "{at}");
        assert_eq!(next.news(), Vec::<String>::new(), "{at}");
    }
}

/// The owner of a kill learns of the end by its reply. A server that is killed before it asks for the kill hides nothing.
#[test]
fn the_end_of_a_task_is_told_although_a_server_was_killed_before_it_ended_it() {
    let home = home();
    let started = home.command(["start", "--json", &children::gated("go", 3)]).session("host").run().json();
    let id = started["id"].as_str().unwrap().to_owned();
    let mut host = dying(&home, "kill-claimed");
    let call = host.begin("task_stop", &json!({"task_ids": [id]}));
    let _ = host.server.wait(SOON);
    assert!(!host.has_answer(call, SOON));
    assert_eq!(home.status(&id)["status"], "running", "nobody has ended it");
    home.open("go");
    let _ = home.ended(&id);
    assert_eq!(Host::new(&home).news(), [id]);
}

#[test]
fn a_server_killed_between_writing_and_acknowledging_is_repeated() {
    let home = home();
    let ids = untold(&home, 2);
    let mut host = dying(&home, "reply-written");
    let call = host.begin("task_list", &json!({}));
    let answer = host.answer(call);
    assert_eq!(told(&answer["result"]).into_iter().collect::<BTreeSet<_>>(), ids, "it was written");
    let _ = host.server.wait(SOON);
    let mut next = Host::new(&home);
    assert_eq!(next.news().into_iter().collect::<BTreeSet<_>>(), ids, "told again rather than not at all");
    assert_eq!(next.news(), Vec::<String>::new());
}

#[test]
fn a_server_killed_after_acknowledging_is_not_repeated() {
    let home = home();
    let ids = untold(&home, 2);
    let mut host = dying(&home, "notices-acknowledged");
    let call = host.begin("task_list", &json!({}));
    let answer = host.answer(call);
    assert_eq!(told(&answer["result"]).into_iter().collect::<BTreeSet<_>>(), ids);
    let _ = host.server.wait(SOON);
    assert_eq!(Host::new(&home).news(), Vec::<String>::new());
}

#[test]
fn the_end_of_a_command_in_the_foreground_is_told_by_its_reply_alone() {
    let home = home();
    let mut host = Host::new(&home);
    let ran = host.call("shell", &json!({"command": "exit 3"}));
    assert_eq!(ran["structuredContent"]["exit_code"], 3, "{ran}");
    assert_eq!(host.news(), Vec::<String>::new());
    wait_until(SOON, "nothing is left of a command whose reply held it whole", || {
        home.list().is_empty().then_some(())
    });
}

#[test]
fn the_end_of_a_command_whose_server_was_killed_is_told_by_the_next() {
    let home = home();
    let mut host = Host::new(&home);
    let _ = host.begin("shell", &json!({"command": format!("echo $$ > pid; {}", children::gated("go", 3))}));
    let _ = home.pid_in("pid");
    host.server.signal(rustix::process::Signal::KILL);
    let _ = host.server.wait(SOON);
    let mut next = Host::new(&home);
    assert_eq!(next.news(), Vec::<String>::new(), "it still runs");
    home.open("go");
    let id = home.list()[0]["id"].as_str().unwrap().to_owned();
    assert_eq!(home.ended(&id)["exit_code"], 3);
    assert_eq!(next.all_news(1), [id]);
}

#[test]
fn a_command_whose_reply_was_never_written_is_told_by_the_next_server() {
    let home = home();
    let mut host = dying(&home, "reply-ready");
    let call = host.begin("shell", &json!({"command": "exit 3"}));
    let _ = host.server.wait(SOON);
    assert!(!host.has_answer(call, SOON));
    let id = home.list()[0]["id"].as_str().unwrap().to_owned();
    assert_eq!(Host::new(&home).all_news(1), [id]);
}

#[test]
fn a_call_that_was_cancelled_has_told_nothing() {
    let home = home();
    let mut host = Host::new(&home);
    let sleeper = host.start(children::SLEEPER);
    let wait = host.begin("task_wait", &json!({"task_ids": [sleeper]}));
    let ids = untold(&home, 2);
    host.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": wait}}));
    let all = host.all_news(2);
    assert_eq!(all.len(), 2, "{all:?}");
    assert_eq!(all.into_iter().collect::<BTreeSet<_>>(), ids);
}

#[test]
fn an_end_that_a_wait_will_tell_is_told_by_no_other_reply() {
    let home = home();
    let mut host = Host::new(&home);
    let first = host.start(&children::gated("first", 3));
    let second = host.start(&children::gated("second", 4));
    let wait = host.begin("task_wait", &json!({"task_ids": [first, second]}));
    // The list is answered after the wait has begun: calls are taken in their order.
    assert_eq!(host.news(), Vec::<String>::new());
    home.open("first");
    let _ = home.ended(&first);
    assert_eq!(host.news(), Vec::<String>::new(), "the wait tells it");
    home.open("second");
    let _ = home.ended(&second);
    let answer = host.answer(wait);
    assert_eq!(told(&answer["result"]), Vec::<String>::new(), "{answer}");
    let said = answer["result"].to_string();
    assert!(said.contains(&first) && said.contains(&second), "{answer}");
    assert_eq!(host.news(), Vec::<String>::new());
}

#[test]
fn an_end_that_a_wait_will_tell_is_told_by_no_other_server() {
    let home = home();
    let (mut one, mut other) = (Host::new(&home), Host::new(&home));
    let first = one.start(&children::gated("first", 3));
    let sleeper = one.start(children::SLEEPER);
    let wait = one.begin("task_wait", &json!({"task_ids": [first, sleeper]}));
    let is_claimed =
        || runtime(&home).notifications().awaited("host").unwrap().iter().any(|id| id.as_str() == first);
    wait_until(SOON, "the wait will tell it", || is_claimed().then_some(()));
    home.open("first");
    let _ = home.ended(&first);
    assert_eq!(other.news(), Vec::<String>::new(), "the wait tells it");
    let params = json!({"requestId": wait});
    one.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}));
    assert_eq!(other.all_news(1), [first], "or whoever is asked next");
}

/// Whichever of them is carried out first.
#[test]
fn a_wait_and_another_call_in_one_write_tell_an_end_once() {
    const ROUNDS: usize = 100;
    let home = home();
    let mut host = Host::new(&home);
    for round in 0..ROUNDS {
        let id = untold(&home, 1).into_iter().next().unwrap();
        let waits = ("task_wait", json!({"task_ids": [id]}));
        let lists = ("task_list", json!({"status": "running"}));
        let [first, second] =
            host.begin_together(if round % 2 == 0 { [waits, lists] } else { [lists, waits] });
        let (first, second) = (host.answer(first), host.answer(second));
        let (waited, listed) = if round % 2 == 0 { (first, second) } else { (second, first) };
        assert!(waited["result"].to_string().contains("exit 3"), "{waited}");
        assert_eq!(told(&waited["result"]), Vec::<String>::new(), "{waited}");
        if round % 2 == 0 {
            assert_eq!(told(&listed["result"]), Vec::<String>::new(), "round {round}: the wait tells it");
        }
        assert_eq!(host.news(), Vec::<String>::new(), "round {round}");
    }
}

/// A reply that is composed already, and not written yet, leaves an end to a wait that comes in.
#[test]
fn an_end_is_taken_out_of_a_reply_that_is_not_written_yet() {
    let home = home().with_env("MEANWHILE_TOOLS_REPLY_BYTES", "200000");
    let mut host = Host::silent(home.command(["mcp"]).session("host"));
    let hello = json!({
        "protocolVersion": "2025-11-25", "clientInfo": {"name": "test", "version": "1"},
        "capabilities": {"experimental": {"meanwhile/structured": {}}},
    });
    let _ = host.ask("initialize", &hello);
    host.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    // Nobody reads: this reply is stuck in the pipe, and what comes next stays behind it.
    let _ = host.begin("shell", &json!({"command": "yes | head -c 150000"}));
    wait_until(SOON, "the pipe is full", || (host.server.unread_bytes() >= 60_000).then_some(()));
    let id = untold(&home, 1).into_iter().next().unwrap();
    let told_of = |id: &str| runtime(&home).notifications().news_of(id, &Scope::All).unwrap()[0].told;
    let list = host.begin("task_list", &json!({"status": "running"}));
    wait_until(SOON, "the list tells it", || (told_of(&id) == Told::HandedOver).then_some(()));
    let wait = host.begin("task_wait", &json!({"task_ids": [id]}));
    wait_until(SOON, "the wait has come in", || (host.server.untaken_bytes() == 0).then_some(()));
    let (listed, waited) = (host.answer(list), host.answer(wait));
    assert_eq!(told(&listed["result"]), Vec::<String>::new(), "{listed}");
    assert!(listed["result"]["structuredContent"]["notices"].is_null(), "{listed}");
    assert!(waited["result"].to_string().contains("exit 3"), "{waited}");
    assert_eq!(host.news(), Vec::<String>::new());
    assert_eq!(told_of(&id), Told::Known);
}

#[test]
fn an_end_whose_wait_was_cancelled_leads_the_next_reply() {
    let home = home();
    let mut host = Host::new(&home);
    let first = host.start(&children::gated("first", 3));
    let sleeper = host.start(children::SLEEPER);
    let wait = host.begin("task_wait", &json!({"task_ids": [first, sleeper]}));
    assert_eq!(host.news(), Vec::<String>::new());
    home.open("first");
    let _ = home.ended(&first);
    host.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": wait}}));
    assert_eq!(host.all_news(1), [first]);
}

#[test]
fn parallel_waits_tell_each_end_once() {
    const ROUNDS: usize = 5;
    const AT_A_TIME: usize = 6;
    let home = home();
    let mut host = Host::new(&home);
    for round in 0..ROUNDS {
        let gate = format!("go{round}");
        let ids: Vec<_> = (0..AT_A_TIME).map(|_| host.start(&children::gated(&gate, 3))).collect();
        let waits: Vec<_> =
            ids.iter().map(|id| host.begin("task_wait", &json!({"task_ids": [id]}))).collect();
        assert_eq!(host.news(), Vec::<String>::new());
        home.open(&gate);
        for (id, wait) in ids.iter().zip(waits) {
            let answer = host.answer(wait);
            assert_eq!(
                told(&answer["result"]),
                Vec::<String>::new(),
                "each is told by its own wait: {answer}"
            );
            assert!(answer["result"].to_string().contains(id.as_str()), "{answer}");
        }
    }
    assert_eq!(host.news(), Vec::<String>::new());
}

#[test]
fn two_servers_of_one_session_tell_everything_once_between_them() {
    let home = home().with_env("MEANWHILE_QUEUE_MAX_RUNNING", "4");
    let (mut one, mut other) = (Host::new(&home), Host::new(&home));
    let mut all = Vec::new();
    let mut ids = BTreeSet::new();
    for _ in 0..6 {
        ids.extend(untold(&home, 3));
        let (first, second) = (one.begin("task_list", &json!({})), other.begin("task_list", &json!({})));
        all.extend(told(&one.answer(first)["result"]));
        all.extend(told(&other.answer(second)["result"]));
    }
    all.extend(one.news());
    all.extend(other.news());
    assert_eq!(all.len(), ids.len(), "none doubled, none lost");
    assert_eq!(all.into_iter().collect::<BTreeSet<_>>(), ids);
}

#[test]
fn what_a_model_has_read_to_the_end_is_not_news() {
    let home = home();
    let mut host = Host::new(&home);
    let id = ended(&home, &mut host, 1).into_iter().next().unwrap();
    // Its notice may lead the very reply that started it, if it was that quick.
    let read = host.call("task_output", &json!({"task_id": id}));
    assert_eq!(told(&read), Vec::<String>::new(), "{read}");
    assert_eq!(host.news(), Vec::<String>::new());
}

#[test]
fn more_news_than_a_reply_holds_comes_with_the_next_ones() {
    const MOST: usize = 16 << 10;
    let home = home();
    let mut host = Host::new(&home);
    let ids = untold(&home, 60);
    let mut all = BTreeSet::new();
    let mut replies = 0;
    while all.len() < ids.len() {
        let result = host.call("task_wait", &json!({"task_ids": ["bash-00000000"]}));
        let blocks = result["content"].as_array().unwrap().iter();
        let size: usize = blocks.map(|block| block["text"].as_str().unwrap().len()).sum();
        assert!(size < MOST, "{size} bytes in one reply");
        let new = told(&result);
        assert!(!new.is_empty(), "{} of {} are told", all.len(), ids.len());
        assert!(new.into_iter().all(|id| all.insert(id)), "nothing is told twice");
        replies += 1;
    }
    assert!(replies > 1 && all == ids);
    assert_eq!(host.news(), Vec::<String>::new());
}
