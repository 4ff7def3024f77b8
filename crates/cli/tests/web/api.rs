//! The API: the same facts as the command line, changes, and errors.

use std::collections::BTreeSet;

use mw_testkit::{SOON, children, wait_until};
use serde_json::{Value, json};

use crate::home;
use crate::serve::Served;

fn keys(value: &Value) -> BTreeSet<String> {
    value.as_object().unwrap().keys().cloned().collect()
}

#[test]
fn a_task_is_the_same_as_on_the_command_line() {
    let home = home();
    let served = Served::new(&home);
    let id = home.command(["start", "--name", "one", "--json", "echo out; exit 3"]).run().json()["id"]
        .as_str()
        .unwrap()
        .to_owned();
    home.ended(&id);
    let listed = home.command(["list", "--json"]).run().json();
    let page = served.get("/tasks");
    assert_eq!(page["tasks"], listed["tasks"]);
    assert_eq!((&page["total"], &page["live"]), (&json!(1), &json!(0)));
    let status = home.command(["status", "--json", &id]).run().json();
    assert_eq!(served.get("/tasks/one?lines=20"), status);
    assert!(served.get("/tasks/one").get("output").is_none());
}

#[test]
fn the_description_has_every_field_of_a_task() {
    let home = home();
    let served = Served::new(&home);
    let document = served.get("/openapi.json");
    assert_eq!(document["openapi"], "3.1.0");
    let schema = &document["components"]["schemas"]["Task"];
    let known = keys(&schema["properties"]);
    let id = home.start("true");
    home.ended(&id);
    let real = keys(&served.get(&format!("/tasks/{id}?lines=1")));
    let unknown: Vec<_> = real.difference(&known).collect();
    assert!(unknown.is_empty(), "not described: {unknown:?}");
    let required: BTreeSet<_> =
        schema["required"].as_array().unwrap().iter().map(|name| name.as_str().unwrap().to_owned()).collect();
    let absent: Vec<_> = required.difference(&real).collect();
    assert!(absent.is_empty(), "described as required: {absent:?}");
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            assert!(operation["summary"].is_string(), "{method} {path} has no summary");
        }
    }
}

#[test]
fn lists_have_filters_and_pages() {
    let home = home();
    let served = Served::new(&home);
    let start = |words: &[&str]| {
        home.command(["start", "--json"].iter().chain(words)).run().json()["id"].as_str().unwrap().to_owned()
    };
    let good = start(&["--batch", "b", "true"]);
    let bad = start(&["--name", "bad", "exit 1"]);
    for id in [&good, &bad] {
        home.ended(id);
    }
    let live = start(&["--description", "a sleeper", children::SLEEPER]);
    let ids = |query: &str| {
        let page = served.get(&format!("/tasks?{query}"));
        page["tasks"]
            .as_array()
            .unwrap()
            .iter()
            .map(|task| task["id"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(ids("status=live"), [live.as_str()]);
    assert_eq!(ids("status=ended&sort=newest"), [bad.as_str(), good.as_str()]);
    assert_eq!(ids("status=failed,lost"), [bad.as_str()]);
    assert_eq!(ids("batch=b"), [good.as_str()]);
    assert_eq!(ids("name=bad"), [bad.as_str()]);
    assert_eq!(ids("text=a%20sleeper"), [live.as_str()]);
    assert_eq!(ids("sort=newest&offset=1&limit=1"), [bad.as_str()]);
    assert_eq!(served.get("/tasks?limit=0")["total"], 3);
    assert_eq!(served.get("/summary")["states"]["failed"], 1);
    let metrics = served.ask("GET", "/api/v1/metrics", &[], "");
    assert!(metrics.body.contains("meanwhile_tasks{state=\"completed\"} 1"), "{}", metrics.body);
}

#[test]
fn tasks_are_started_typed_to_killed_restarted_and_removed() {
    let home = home();
    let served = Served::new(&home);
    let started = served.done(
        "/tasks",
        &json!({
            "command": "read line; echo got $line $GREETING; exec sleep 600", "name": "typed", "stdin": true,
            "env": {"GREETING": "hello"}, "cwd": home.work(), "timeout": "10m",
        }),
    );
    let id = started["id"].as_str().unwrap();
    assert_eq!((&started["session"], &started["approved_by"]), (&json!("default"), &json!("user")));
    served.done("/tasks/typed/input", &json!({"text": "this"}));
    home.until_logged(id, "got this hello");
    let killed = served.done("/tasks/kill", &json!({"ids": [id]}));
    let receipt = &killed["receipts"][0];
    assert_eq!(
        (&receipt["id"], &receipt["status"], &receipt["signals"][0]["signal"]),
        (&json!(id), &json!("cancelled"), &json!("SIGTERM"))
    );
    assert_eq!(receipt["requested_by"], "user");
    served.done("/tasks/restart", &json!({"ids": [id]}));
    assert_eq!(home.status(id)["runs"], 2);
    assert_eq!(served.get(&format!("/tasks/{id}/history"))["runs"].as_array().unwrap().len(), 2);
    served.done("/tasks/kill", &json!({"ids": [id], "signal": "KILL"}));
    served.done("/tasks/clear", &json!({"ids": [id]}));
    assert_eq!(home.list().len(), 0);
}

#[test]
fn variables_are_named_without_their_values() {
    let home = home();
    let served = Served::new(&home);
    let started = served.done("/tasks", &json!({"argv": ["true"], "env": {"API_TOKEN": "hidden-value-1"}}));
    let history =
        served.ask("GET", &format!("/api/v1/tasks/{}/history", started["id"].as_str().unwrap()), &[], "");
    assert!(
        history.body.contains("API_TOKEN") && !history.body.contains("hidden-value-1"),
        "{}",
        history.body
    );
}

#[test]
fn output_is_read_in_parts_and_searched() {
    let home = home();
    let served = Served::new(&home);
    let id = home.start("for i in 1 2 3; do echo line $i; done; echo wrong >&2");
    home.ended(&id);
    let read = |query: &str| served.get(&format!("/tasks/{id}/output?{query}"));
    let text = |part: &Value| {
        part["pieces"]
            .as_array()
            .unwrap()
            .iter()
            .map(|piece| piece["text"].as_str().unwrap())
            .collect::<String>()
    };
    assert_eq!(text(&read("stream=stdout")), "line 1\nline 2\nline 3\n");
    let both = read("");
    let wrong = both["pieces"].as_array().unwrap().iter().find(|piece| piece["stream"] == "stderr").unwrap();
    assert_eq!((wrong["text"].as_str().unwrap(), &both["is_over"]), ("wrong\n", &json!(true)));
    let part = read("offset=7&max_bytes=7&stream=stdout");
    assert_eq!((text(&part).as_str(), &part["offset"], &part["next"]), ("line 2\n", &json!(7), &json!(14)));
    assert_eq!(text(&read("before=7")), "line 1\n");
    assert_eq!(text(&read("lines=1&stream=stdout")), "line 3\n");
    let found = served.get(&format!("/tasks/{id}/output/search?pattern=ne%20%5B23%5D"));
    assert_eq!(found["matches"].as_array().unwrap().len(), 2);
}

#[test]
fn a_wait_ends_with_its_condition_or_its_time() {
    let home = home();
    let served = Served::new(&home);
    let id = home.start(&children::gated("go", 4));
    let early = served.done("/wait", &json!({"ids": [id], "timeout_ms": 50}));
    assert_eq!((&early["timed_out"], &early["tasks"][0]["status"]), (&json!(true), &json!("running")));
    home.open("go");
    let ended = served.done("/wait", &json!({"ids": [id]}));
    assert_eq!((&ended["timed_out"], &ended["tasks"][0]["exit_code"]), (&json!(false), &json!(4)));
    assert_eq!(ended["met"], json!([id]));
}

#[test]
fn errors_are_problems_with_codes_and_hints() {
    let home = home();
    let served = Served::new(&home);
    let id = home.start("true");
    home.ended(&id);
    let problem = |method: &str, path: &str, body: &str| {
        let response = served.ask(method, &format!("/api/v1{path}"), &[], body);
        assert_eq!(
            response.header("content-type"),
            Some("application/problem+json"),
            "{path}: {}",
            response.body
        );
        let problem = response.json();
        assert_eq!(problem["status"], response.status, "{path}");
        (response.status, problem["code"].as_str().unwrap().to_owned())
    };
    for (method, path, body, status, code) in [
        ("GET", "/tasks/bash-nothere1", "", 404, "not_found"),
        ("GET", "/tasks?limit=x", "", 400, "invalid"),
        ("GET", "/tasks?status=odd", "", 400, "invalid"),
        ("GET", "/tasks?limit=1001", "", 400, "invalid"),
        ("GET", "/events/list?limit=1001", "", 400, "invalid"),
        ("GET", "/approvals?history=true&limit=501", "", 400, "invalid"),
        ("GET", "/traces?limit=201", "", 400, "invalid"),
        ("GET", "/timeline?hours=NaN", "", 400, "invalid"),
        ("GET", "/nothing", "", 404, "no_route"),
        ("DELETE", "/tasks", "", 405, "no_method"),
        ("POST", "/tasks", "{", 400, "invalid"),
        ("POST", "/tasks", "{\"command\":\"true\",\"comand\":1}", 400, "invalid"),
        ("POST", "/tasks", "{}", 400, "invalid"),
        ("POST", "/tasks", "{\"command\":\"true\",\"env\":{\"A=B\":\"c\"}}", 400, "invalid"),
        ("POST", "/wait", "{\"ids\":[\"x\"],\"timeout_ms\":600001}", 400, "invalid"),
        ("POST", "/tasks", "{\"command\":\"true\",\"cwd\":\"here\"}", 400, "invalid"),
        ("POST", "/tasks/kill", "{\"ids\":[]}", 400, "invalid"),
        ("POST", "/approvals/ask-nothere1/approve", "", 404, "no_proposal"),
    ] {
        assert_eq!(problem(method, path, body), (status, code.to_owned()), "{method} {path} {body}");
    }
    assert_eq!(problem("POST", &format!("/tasks/{id}/input"), "{\"text\":\"x\"}").0, 409);
    assert_eq!(problem("GET", &format!("/tasks/{id}/output?run=9"), "").0, 400);
    assert_eq!(problem("GET", &format!("/tasks/{id}/output/search?pattern=("), "").0, 400);
    let large = served.post("/tasks", &json!({"command": "x".repeat(5 << 20)}));
    assert!(large.status == 413 && large.json()["code"] == "too_large");
    // A body that announces too much is refused before it comes.
    let announced = served.ask("POST", "/api/v1/tasks", &[("Content-Length", "99999999999")], "");
    assert_eq!(announced.status, 413);
    let refused = |headers: &[(&str, &str)]| {
        let answer = served.ask("POST", "/api/v1/tasks", headers, "{}");
        assert_eq!(answer.header("content-type"), Some("application/problem+json"));
        (answer.status, answer.json()["code"].as_str().unwrap().to_owned())
    };
    assert_eq!(refused(&[("Authorization", "Bearer wrong")]), (401, "no_token".to_owned()));
    assert_eq!(refused(&[("Host", "evil.example")]), (403, "foreign_host".to_owned()));
    assert_eq!(refused(&[("Origin", "https://evil.example")]), (403, "foreign_origin".to_owned()));
}

#[test]
fn changes_are_limited_and_reads_are_not() {
    let home = home();
    let served = Served::new(&home);
    let statuses: Vec<_> = (0..80).map(|_| served.post("/tasks/clear", &json!({"ended": true}))).collect();
    let refused = statuses.iter().find(|response| response.status == 429).expect("some are refused");
    assert!(refused.header("retry-after").is_some() && refused.json()["code"] == "busy");
    (0..80).for_each(|_| drop(served.get("/tasks")));
    wait_until(SOON, "changes are allowed again", || {
        (served.post("/tasks/clear", &json!({"ended": true})).status == 200).then_some(())
    });
}

#[test]
fn sessions_batches_places_traces_and_the_timeline_are_listed() {
    let home = home();
    let served = Served::new(&home);
    let id =
        home.command(["start", "--json", "--batch", "night", "true"]).session("agent-1").run().json()["id"]
            .as_str()
            .unwrap()
            .to_owned();
    home.ended(&id);
    assert_eq!(served.get("/sessions")["sessions"][0]["id"], "agent-1");
    let batch = &served.get("/batches")["batches"][0];
    assert_eq!(
        (&batch["id"], &batch["tasks"], &batch["states"]["completed"]),
        (&json!("night"), &json!(1), &json!(1))
    );
    assert!(
        served.get("/backends")["backends"]
            .as_array()
            .unwrap()
            .iter()
            .any(|place| place["name"] == "process")
    );
    assert!(served.get("/agents")["agents"].is_array());
    let trace = served.get(&format!("/traces/{id}"));
    assert_eq!(trace["spans"].as_array().unwrap().len(), 2);
    assert_eq!(served.get("/traces")["traces"].as_array().unwrap().len(), 1);
    let lane = &served.get("/timeline?hours=1")["lanes"][0];
    assert_eq!((&lane["session"], &lane["runs"][0]["status"]), (&json!("agent-1"), &json!("completed")));
}

#[test]
fn the_use_of_live_tasks_has_a_history() {
    let home = home();
    let served = Served::new(&home);
    let id = home.start("while :; do :; done");
    wait_until(SOON, "there are two values", || {
        let usage = served.get("/usage");
        let values = usage["tasks"][&id]["cpu"].as_array()?.len();
        (values >= 2).then_some(())
    });
}
