//! Tasks and logs as resources, and updates to subscribers.

use std::time::Duration;

use mw_testkit::host::Host;
use mw_testkit::{Home, children};
use serde_json::{Value, json};

use crate::home;
use crate::tolerance::modern;

fn read(host: &mut Host, uri: &str) -> Value {
    let id = host.ask("resources/read", &json!({"uri": uri}));
    host.answer(id)["result"]["contents"][0].clone()
}

fn updated(host: &mut Host, uri: &str) -> Value {
    host.until(&format!("an update of {uri}"), |message| {
        message["method"] == "notifications/resources/updated" && message["params"]["uri"] == uri
    })
}

#[test]
fn tasks_and_their_logs_can_be_listed_and_read() {
    let home = home();
    let mut host = Host::new(&home);
    let task = host.start("seq 1 3; exit 3");
    home.ended(&task);
    let id = host.ask("resources/list", &json!({}));
    let listed = host.answer(id)["result"]["resources"].clone();
    let uris: Vec<_> = listed.as_array().unwrap().iter().map(|one| one["uri"].as_str().unwrap()).collect();
    let (one, output) = (format!("meanwhile://tasks/{task}"), format!("meanwhile://tasks/{task}/output"));
    assert_eq!(uris, ["meanwhile://tasks", &one, &output]);
    assert_eq!(read(&mut host, &output)["text"], "1\n2\n3\n");
    let state: Value = serde_json::from_str(read(&mut host, &one)["text"].as_str().unwrap()).unwrap();
    assert_eq!(state["exit_code"], 3, "{state}");
    for odd in ["meanwhile://tasks/bash-00000000", "meanwhile://", "file:///etc/passwd", "", "x"] {
        let id = host.ask("resources/read", &json!({"uri": odd}));
        let answer = host.answer(id);
        assert!(answer.get("error").is_some(), "{odd}: {answer}");
    }
}

#[test]
fn subscribers_are_notified_of_their_resources_only() {
    let home = home();
    let mut host = Host::new(&home);
    let task = host.start(&format!("echo one; {}", children::gated("go", 0)));
    let one = format!("meanwhile://tasks/{task}");
    let id = host.ask("resources/subscribe", &json!({"uri": one}));
    assert!(host.answer(id).get("result").is_some());
    let other = host.start(children::SLEEPER);
    home.open("go");
    let _ = updated(&mut host, &one);
    let id = host.ask("resources/unsubscribe", &json!({"uri": one}));
    assert!(host.answer(id).get("result").is_some());
    let never = host.has_answer(-1, Duration::from_millis(100));
    assert!(!never);
    let stray = |message: &Value| message["params"]["uri"].as_str().is_some_and(|uri| uri.contains(&other));
    assert!(!host.heard().iter().any(stray), "{:?}", host.heard());
}

#[test]
fn growing_output_sends_a_resource_update() {
    let home = home();
    let mut host = Host::new(&home);
    let task = host.start(&format!("{}; echo more; sleep 600", children::gate("go")));
    let output = format!("meanwhile://tasks/{task}/output");
    let id = host.ask("resources/subscribe", &json!({"uri": output}));
    let _ = host.answer(id);
    home.open("go");
    let _ = updated(&mut host, &output);
    home.until_logged(&task, "more");
    mw_testkit::wait_until(mw_testkit::SOON, "the new output can be read", || {
        read(&mut host, &output)["text"].as_str().unwrap().contains("more").then_some(())
    });
}

fn listening(home: &Home, filter: &Value) -> Host {
    let mut host = Host::silent(home.command(["mcp"]).session("host"));
    let id = host.ask("subscriptions/listen", &json!({"notifications": filter, "_meta": modern(&json!({}))}));
    let heard = host.until("the acknowledgement", |message| {
        message["method"] == "notifications/subscriptions/acknowledged" || message["id"] == id
    });
    assert!(heard.get("error").is_none(), "{heard}");
    host
}

#[test]
fn a_client_of_the_current_revision_gets_updates_of_named_resources() {
    let home = home();
    let started = home.command(["start", "--json", &children::gated("go", 3)]).session("host").run().json();
    let one = format!("meanwhile://tasks/{}", started["id"].as_str().unwrap());
    let mut host = listening(&home, &json!({"resourceSubscriptions": [one], "resourcesListChanged": true}));
    home.open("go");
    let _ = updated(&mut host, &one);
    let _ = host
        .until("the list has changed", |message| message["method"] == "notifications/resources/list_changed");
}
