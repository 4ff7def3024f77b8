//! Settings of the tools, as seen through the MCP server.

use std::time::{Duration, Instant};

use mw_testkit::host::{Host, text};
use mw_testkit::{Home, SOON, children, wait_until};
use serde_json::json;

use crate::settings::{both_ways, with_file};

#[test]
fn tools_reply_bytes_takes_effect() {
    for home in both_ways("tools.reply_bytes", "300") {
        let mut host = Host::new(&home);
        let ran = host.call("shell", &json!({"command": "seq 1 2000"}))["structuredContent"].clone();
        let (output, left) = (ran["output"].as_str().unwrap(), ran["left_out_bytes"].as_u64().unwrap());
        assert!(output.len() < 500 && left > 8000, "the default gives 8192 bytes: {ran}");
        let task = host.start("seq 1 2000");
        home.ended(&task);
        let read = host.call("task_output", &json!({"task_id": task}))["structuredContent"].clone();
        assert!(read["output"].as_str().unwrap().len() <= 300 && read["more"] == true, "{read}");
    }
}

#[test]
fn tools_stream_bytes_takes_effect() {
    for home in both_ways("tools.stream_bytes", "1024").map(|home| home.with_env("MEANWHILE_MODE", "auto")) {
        let mut host = Host::of(home.command(["mcp", "--dialect", "opta"]).session("host"));
        let started = host.call("bg_start", &json!({"command": "seq 1 2000"}))["structuredContent"].clone();
        home.ended(started["id"].as_str().unwrap());
        let read =
            host.call("bg_output", &json!({"id": started["id"], "lines": 2000}))["structuredContent"].clone();
        let shown = read["stdout"].as_str().unwrap();
        assert!(shown.starts_with("1797\n") && shown.ends_with("\n2000"), "the default shows all: {shown:?}");
        assert_eq!(read["truncated"], true);
    }
}

#[test]
fn tools_longest_call_takes_effect() {
    for home in both_ways("tools.longest_call", "1s") {
        let mut host = Host::new(&home);
        let task = host.start(children::SLEEPER);
        let begun = Instant::now();
        let waited = host.call("task_wait", &json!({"task_ids": [task]}));
        assert!(begun.elapsed() < Duration::from_secs(200), "the default is 240 s");
        assert_eq!(waited["structuredContent"]["timed_out"], true, "{waited}");
    }
}

/// B-013: the default timeout of a wait is a setting, and the tool description has it.
#[test]
fn tools_wait_takes_effect() {
    for home in both_ways("tools.wait", "300ms") {
        for dialect in ["canonical", "mycode", "background-task"] {
            let shown = home.mw(["tools", "--dialect", dialect, "--format", "openai"]).ok();
            assert!(shown.contains("\"default\": 300") && !shown.contains("30000"), "{dialect}: {shown}");
        }
        let mut host = Host::new(&home);
        let task = host.start(children::SLEEPER);
        wait_until(SOON, "a wait shorter than the default of 30 s", || {
            let begun = Instant::now();
            let read = host.call("task_output", &json!({"task_id": task, "block": true}));
            assert_eq!(read["structuredContent"]["timed_out"], true, "{read}");
            (begun.elapsed() < Duration::from_secs(29)).then_some(())
        });
    }
}

fn offers_no_background(home: &Home) {
    let mut host = Host::new(home);
    let id = host.ask("tools/list", &json!({}));
    let tools = host.answer(id)["result"]["tools"].clone();
    let names: Vec<_> = tools.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["shell"]);
    let shown = tools.to_string();
    assert!(!shown.contains("background"), "neither schema nor description mentions it: {shown}");
    let forged = host.call("shell", &json!({"command": "exit 3", "run_in_background": true}));
    assert_eq!(forged["isError"], true, "{forged}");
    assert!(text(&forged).contains("disabled"), "{forged}");
    let ran = host.call("shell", &json!({"command": "exit 3"}));
    assert_eq!(ran["structuredContent"]["exit_code"], 3, "{ran}");
}

#[test]
fn tools_notices_takes_effect() {
    for home in both_ways("tools.notices", "false") {
        let mut host = Host::new(&home);
        let task = host.start("exit 3");
        home.ended(&task);
        let listed = host.call("task_list", &json!({}));
        assert!(!text(&listed).contains("task-notification"), "{listed}");
        let listed = home.mw(["session", "list", "--json"]).json();
        let sessions = listed["sessions"].as_array().unwrap();
        let own = sessions.iter().find(|session| session["id"] == "host");
        assert_eq!(own.unwrap()["notices"], 1, "the notification is still undelivered: {listed}");
    }
}

#[test]
fn tools_no_background_takes_effect() {
    both_ways("tools.no_background", "true").iter().for_each(offers_no_background);
}

#[test]
fn the_alias_of_zidane_for_no_background_takes_effect() {
    let file = "profile = \"zidane\"\n[behavior]\ndisableBackgroundTasks = true\n";
    offers_no_background(&with_file(file));
}
