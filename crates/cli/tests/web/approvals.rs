//! Approval requests over HTTP.

use std::fs;

use mw_testkit::{Home, Running, SOON, wait_until};
use serde_json::{Value, json};

use crate::home;
use crate::serve::Served;

const COMMAND: &str = "rm -rf build";
const OTHER: &str = "rm -rf dist";

fn asked(home: &Home, served: &Served, command: &str) -> (Running, Value) {
    let asking = home.command(["start", "--json", command]).session("agent-1").spawn();
    let request =
        wait_until(SOON, "the request is open", || served.get("/approvals")["approvals"].get(0).cloned());
    (asking, request)
}

#[test]
fn a_request_has_the_command_and_its_effects_and_can_be_approved() {
    let home = home().gated();
    let served = Served::new(&home);
    let (asking, request) = asked(&home, &served, COMMAND);
    assert_eq!((&request["command"], &request["session"]), (&json!(COMMAND), &json!("agent-1")));
    assert!(request["effects"][0].as_str().unwrap().contains("deletes build"), "{request}");
    let command_line = home.command(["approvals", "--json"]).run().json();
    assert_eq!(command_line["approvals"][0], request);
    let path = format!("/approvals/{}/approve", request["id"].as_str().unwrap());
    served.done(&path, &json!({}));
    let started = asking.wait();
    assert_eq!(started.code, Some(0), "{started}");
    let earlier = served.get("/approvals?history=true");
    assert_eq!(earlier["approvals"][0]["answered_by"], "the web page");
    assert_eq!(served.post(&path, &json!({})).status / 100, 4, "it was answered");
}

#[test]
fn the_rule_of_a_permanent_approval_is_shown_before_it_is_written() {
    let home = home().gated();
    let served = Served::new(&home);
    let (asking, request) = asked(&home, &served, COMMAND);
    let path = format!("/approvals/{}", request["id"].as_str().unwrap());
    let rule = served.get(&format!("{path}/rule"));
    let (file, text) = (rule["path"].as_str().unwrap(), rule["text"].as_str().unwrap());
    assert!(text.contains(&format!("match = {COMMAND:?}")), "{rule}");
    assert!(!fs::exists(file).unwrap(), "nothing is written");
    served.done(&format!("{path}/approve"), &json!({"remember": "always"}));
    assert_eq!(asking.wait().code, Some(0));
    assert!(fs::read_to_string(file).unwrap().contains(text));
    assert_eq!(served.get(&path)["answered_by"], "the web page");
}

#[test]
fn a_permanent_approval_that_no_rule_can_express_changes_nothing() {
    let home = home().gated();
    let served = Served::new(&home);
    let (asking, request) = asked(&home, &served, "rm *.c");
    let path = format!("/api/v1/approvals/{}", request["id"].as_str().unwrap());
    for (method, path, body) in [
        ("GET", format!("{path}/rule"), ""),
        ("POST", format!("{path}/approve"), "{\"remember\": \"always\"}"),
    ] {
        let refused = served.ask(method, &path, &[("Content-Type", "application/json")], body);
        assert!(
            refused.status == 409 && refused.body.contains("not literal"),
            "{} {}",
            refused.status,
            refused.body
        );
    }
    assert_eq!(served.get("/approvals")["approvals"][0]["id"], request["id"], "it is still open");
    assert!(!fs::exists(home.user().join(".config/meanwhile/config.toml")).unwrap());
    let deny = format!("/approvals/{}/deny", request["id"].as_str().unwrap());
    served.done(&deny, &json!({}));
    assert_ne!(asking.wait().code, Some(0));
}

#[test]
fn a_denial_has_a_reason_and_always_adds_a_rule() {
    let home = home().gated();
    let served = Served::new(&home);
    let (asking, request) = asked(&home, &served, COMMAND);
    served.done(
        &format!("/approvals/{}/deny", request["id"].as_str().unwrap()),
        &json!({"reason": "use make clean"}),
    );
    let denied = asking.wait();
    assert!(denied.code != Some(0) && denied.text().contains("use make clean"), "{denied}");
    let (asking, request) = asked(&home, &served, OTHER);
    let done = served.done(
        &format!("/approvals/{}/approve", request["id"].as_str().unwrap()),
        &json!({"remember": "always"}),
    );
    let written = done["lines"][1].as_str().unwrap().strip_prefix("added a rule to ").unwrap();
    assert!(fs::read_to_string(written).unwrap().contains(OTHER));
    assert_eq!(asking.wait().code, Some(0));
    let again = home.command(["start", "--json", OTHER]).session("agent-2").run();
    assert_eq!(again.code, Some(0), "{again}");
}
