//! Events and logs as they happen.

use std::fs::OpenOptions;

use mw_testkit::{SOON, wait_until};
use serde_json::json;

use crate::home;
use crate::serve::{Events, Served};

#[test]
fn events_are_sent_as_they_happen_and_resumed_after_an_interruption() {
    let home = home();
    let served = Served::new(&home);
    let mut events = served.follow("/events", &[]);
    let (_, hello) = events.until("hello");
    assert_eq!(hello["last"], 0);
    let id = home.start("exit 3");
    let mut seen = Vec::new();
    while seen.last().is_none_or(|(_, name)| name != "ended") {
        let (seq, row) = events.until("task");
        assert_eq!(row["task"], id.as_str());
        seen.push((seq.unwrap(), row["event"].as_str().unwrap().to_owned()));
    }
    drop(events);
    // A client that has seen the first event gets exactly the others.
    let mut again = served.follow("/events", &[("Last-Event-ID", &seen[0].0)]);
    for (seq, name) in &seen[1..] {
        let (again_seq, row) = again.until("task");
        assert_eq!((again_seq.as_ref(), row["event"].as_str()), (Some(seq), Some(name.as_str())));
    }
    let listed = served.get("/events/list?after=0")["events"].as_array().unwrap().len();
    assert_eq!(listed, seen.len());
}

/// The database is rebuilt while a page is open, and again while it is away.
#[test]
fn events_go_on_after_the_database_was_rebuilt() {
    let home = home();
    let served = Served::new(&home);
    let mut events = served.follow("/events", &[]);
    events.until("hello");
    let until_ended = |events: &mut Events, id: &str| loop {
        let (seq, row) = events.until("task");
        if row["task"] == id && row["event"] == "ended" {
            return seq.unwrap().parse::<i64>().unwrap();
        }
    };
    let first = home.start("exit 0");
    let mut last = until_ended(&mut events, &first);
    for _ in 0..2 {
        home.until_settled(home.list()[0]["id"].as_str().unwrap());
        OpenOptions::new().write(true).open(home.state().join("meanwhile.db")).unwrap().set_len(0).unwrap();
        let later = home.start("exit 0");
        let seq = until_ended(&mut events, &later);
        assert!(seq > last, "{seq} follows {last}");
        let mut again = served.follow("/events", &[("Last-Event-ID", &last.to_string())]);
        // The end may have been written to the old database, too; then it is repeated with a higher number.
        let repeated = until_ended(&mut again, &later);
        assert!(repeated >= seq, "{repeated} is {seq}");
        last = repeated;
    }
}

#[test]
fn open_requests_and_removals_are_sent() {
    let home = home().gated();
    let served = Served::new(&home);
    let id = home.start("true");
    home.ended(&id);
    let mut events = served.follow("/events", &[]);
    events.until("hello");
    let asking = home.command(["start", "rm -rf x"]).session("agent").spawn();
    let request = loop {
        let (_, open) = events.until("approvals");
        if let Some(request) = open["approvals"].get(0) {
            break request["id"].as_str().unwrap().to_owned();
        }
    };
    served.done(&format!("/approvals/{request}/deny"), &json!({}));
    assert_ne!(asking.wait().code, Some(0));
    served.done("/tasks/clear", &json!({"ids": [id]}));
    while events.until("total").1["total"] != 0 {}
}

fn text_until_end(log: &mut Events) -> String {
    let mut text = String::new();
    while let Some((name, _, data)) = log.next() {
        if name == "end" {
            return text;
        }
        assert_eq!(data["skipped"], 0);
        for piece in data["pieces"].as_array().unwrap() {
            text.push_str(piece["text"].as_str().unwrap());
        }
    }
    panic!("the stream ended before the log");
}

#[test]
fn a_log_is_followed_to_its_end_by_several_viewers() {
    let home = home();
    let served = Served::new(&home);
    let id = home.start("echo one; until test -e go; do :; done; seq 20000; echo last");
    home.until_logged(&id, "one");
    let path = format!("/tasks/{id}/output/stream?offset=0");
    let mut viewers: Vec<_> = (0..4).map(|_| served.follow(&path, &[])).collect();
    for viewer in &mut viewers {
        assert_eq!(viewer.until("log").1["pieces"][0]["text"], "one\n");
    }
    home.open("go");
    let whole: String = (1..=20000).map(|number| format!("{number}\n")).collect::<String>() + "last\n";
    for viewer in &mut viewers {
        assert!(text_until_end(viewer) == whole, "the text differs");
    }
    // Later viewers get what is left after the offset that they name.
    let end = served.get(&format!("/tasks/{id}/output"))["end"].as_u64().unwrap();
    let mut late = served.follow(&path, &[("Last-Event-ID", &(end - 5).to_string())]);
    assert_eq!(text_until_end(&mut late), "last\n");
}

#[test]
fn a_viewer_who_leaves_costs_nothing() {
    let home = home();
    let served = Served::new(&home);
    let id = home.start("while :; do echo x; done");
    let viewers = || served.ask("GET", "/api/v1/metrics", &[], "").body;
    let mut log = served.follow(&format!("/tasks/{id}/output/stream"), &[]);
    log.until("log");
    assert!(viewers().contains("meanwhile_log_viewers 1"), "{}", viewers());
    drop(log);
    wait_until(SOON, "nobody follows", || viewers().contains("meanwhile_log_viewers 0").then_some(()));
}
