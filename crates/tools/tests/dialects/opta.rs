//! opta: schemas, executor tests, states and the limit.

use std::time::Duration;

use mw_testkit::children::STUBBORN;
use mw_tools::call::Background;
use mw_tools::{Dialect, Format};
use serde_json::{Value, json};

use crate::world::{SLEEPER, World};

pub fn world() -> World {
    World::new(Dialect::Opta)
}

/// Starts a command and returns its id.
pub fn started(world: &World, command: &str) -> String {
    let reply = world.done("bg_start", json!({"command": command}));
    reply.data["id"].as_str().unwrap().to_owned()
}

/// Waits for the end of a process.
pub fn until_over(world: &World, id: &str) {
    world.over(&world.task(id).id);
}

#[test]
fn schemas_are_openai_functions_with_the_parameters_of_the_source() {
    let specs = world().tools.specs(Background::On);
    assert_eq!(specs.len(), 4, "opta adds four tools to its fourteen");
    let written: Vec<_> = specs.iter().map(|spec| spec.to_json(Format::OpenAi)).collect();
    let wanted = [
        (
            "bg_start",
            json!(["command"]),
            json!({"command": "string", "timeout": "number", "label": "string"}),
        ),
        ("bg_status", json!([]), json!({"id": "string"})),
        (
            "bg_output",
            json!(["id"]),
            json!({"id": "string", "lines": "number", "stream": "string", "since_last_read": "boolean"}),
        ),
        ("bg_kill", json!(["id"]), json!({"id": "string", "signal": "string"})),
    ];
    for (tool, (name, required, types)) in written.iter().zip(wanted) {
        assert_eq!(tool["type"], "function");
        let function = &tool["function"];
        assert_eq!(function["name"], name);
        assert_eq!(function["parameters"]["type"], "object");
        assert_eq!(function["parameters"]["required"], required, "{name}");
        let properties = function["parameters"]["properties"].as_object().unwrap();
        let found: Value =
            properties.iter().map(|(name, schema)| (name.clone(), schema["type"].clone())).collect();
        assert_eq!(found, types, "{name}");
    }
    let properties = |at: usize| &written[at]["function"]["parameters"]["properties"];
    assert_eq!(properties(2)["stream"]["enum"], json!(["stdout", "stderr", "both"]));
    assert_eq!(properties(3)["signal"]["enum"], json!(["SIGTERM", "SIGKILL", "SIGINT"]));
    assert!(properties(0)["timeout"]["description"].as_str().unwrap().contains("300000"));
}

/// Executor: `bg_start`.
#[test]
fn starts_a_background_process() {
    let world = world();
    let reply = world.done("bg_start", json!({"command": "echo bg-test"}));
    let id = reply.data["id"].as_str().unwrap();
    assert!(id.len() == 8 && id.chars().all(|c| c.is_ascii_alphanumeric()), "{id}");
    let pid = reply.data["pid"].as_u64().unwrap();
    assert_eq!(reply.text, format!("Process started: id={id} pid={pid} cmd=\"echo bg-test\""));
    assert_eq!(world.task(id).pid.map(u64::from), Some(pid));
}

/// Executor: `bg_status`.
#[test]
fn returns_status_of_a_running_process_and_lists_all() {
    let world = world();
    assert_eq!(world.done("bg_status", json!({})).text, "No background processes.");
    let first = world.done("bg_start", json!({"command": SLEEPER, "label": "first"}));
    world.done("bg_start", json!({"command": SLEEPER, "label": "second"}));
    let (id, pid) = (first.data["id"].as_str().unwrap(), &first.data["pid"]);
    let reply = world.done("bg_status", json!({"id": id}));
    let start = format!("id={id} state=running pid={pid} runtime=");
    let end = "s cmd=\"exec sleep 600\" label=\"first\"";
    assert!(reply.text.starts_with(&start) && reply.text.ends_with(end), "{}", reply.text);
    let process = &reply.data["processes"][0];
    assert_eq!((&process["exitCode"], &process["endedAt"]), (&Value::Null, &Value::Null));
    assert!(process["startedAt"].as_i64().unwrap() > 1_700_000_000_000);
    assert!(process["runtimeMs"].is_u64());
    let all = world.done("bg_status", json!({}));
    assert!(all.text.contains("label=\"first\"") && all.text.contains("label=\"second\""), "{}", all.text);
    assert_eq!(all.text.lines().count(), 2);
}

#[test]
fn completes_with_exit_code_0_and_the_runtime_stops() {
    let world = world();
    let id = started(&world, "echo done");
    until_over(&world, &id);
    let status = || world.done("bg_status", json!({"id": id})).data["processes"][0].clone();
    let first = status();
    assert_eq!((&first["state"], &first["exitCode"]), (&json!("completed"), &json!(0)));
    assert!(first["endedAt"].as_i64().unwrap() >= first["startedAt"].as_i64().unwrap());
    assert_eq!(status(), first);
}

#[test]
fn unknown_ids_are_errors_in_the_format_of_opta() {
    let world = world();
    let foreign = world.start_with(SLEEPER, |request| request.session = "another".to_owned());
    for id in ["bogus", foreign.id.suffix()] {
        for tool in ["bg_status", "bg_output", "bg_kill"] {
            let reply = world.refused(tool, json!({"id": id}));
            assert_eq!(reply.text, format!("Error: Process not found: Process \"{id}\" not found"));
        }
    }
}

#[test]
fn rejects_when_the_limit_is_reached() {
    let world = world();
    let ids: Vec<_> = (0..5).map(|_| started(&world, SLEEPER)).collect();
    let reply = world.refused("bg_start", json!({"command": "touch ran"}));
    let start = "Error: Max concurrent processes (5) reached. Kill a process first.";
    assert!(reply.text.starts_with(start) && reply.text.contains("bg_kill"), "{}", reply.text);
    assert!(ids.iter().all(|id| reply.text.contains(id.as_str())), "{}", reply.text);
    assert_eq!(world.tasks().len(), 5, "no task is left");
    world.done("bg_kill", json!({"id": ids[0]}));
    world.done("bg_start", json!({"command": "true"}));
    assert!(!world.home.has_file("ran"));
}

/// The source rejects at the limit. With a queue, the reply must not say "started".
#[test]
fn a_task_without_a_slot_is_reported_as_queued() {
    let mut world = World::new(Dialect::Opta);
    world.call_settings.at_capacity = meanwhile::settings::AtCapacity::Queue;
    world.fill();
    let reply = world.done("bg_start", json!({"command": "true"}));
    let id = reply.data["id"].as_str().unwrap();
    assert_eq!(reply.text, format!("Process queued: id={id} position=1 cmd=\"true\""));
}

#[test]
fn a_kill_reports_the_runtime() {
    let world = world();
    let id = started(&world, SLEEPER);
    let reply = world.done("bg_kill", json!({"id": id}));
    let middle = reply.text.strip_prefix(&format!("Process {id} killed (was running for ")).unwrap();
    let seconds = middle.strip_suffix("s)").unwrap();
    assert!(seconds.split_once('.').is_some_and(|(_, rest)| rest.len() == 1), "{}", reply.text);
    assert_eq!(reply.data, json!({"id": id, "killed": true, "state": "killed"}));
    assert_eq!(reply.reported, [world.task(&id).id]);
    // A kill of an ended process is no error.
    let again = world.done("bg_kill", json!({"id": id}));
    assert_eq!(again.data, json!({"id": id, "killed": false, "state": "killed"}));
}

#[test]
fn a_kill_sends_the_requested_signal() {
    let world = world();
    let trap = "trap 'echo got INT; exit 5' INT; echo ready; while :; do sleep 0.05; done";
    let id = started(&world, trap);
    world.home.until_logged(world.task(&id).id.as_str(), "ready");
    world.done("bg_kill", json!({"id": id, "signal": "SIGINT"}));
    assert!(world.done("bg_output", json!({"id": id})).data["stdout"].as_str().unwrap().contains("got INT"));
    let stubborn = started(&world, STUBBORN);
    world.home.until_logged(world.task(&stubborn).id.as_str(), "ready");
    world.done("bg_kill", json!({"id": stubborn, "signal": "SIGKILL"}));
    let line = world.done("bg_status", json!({"id": stubborn})).text;
    assert!(line.contains("state=killed") && line.contains("signal=SIGKILL"), "{line}");
    let refused = world.refused("bg_kill", json!({"id": id, "signal": "SIGSTOP"}));
    assert!(refused.text.contains("signal must be one of SIGTERM, SIGKILL, SIGINT"), "{}", refused.text);
}

#[test]
fn a_process_that_ignores_sigterm_is_killed_after_the_grace_period() {
    let world = world();
    let id = started(&world, STUBBORN);
    world.home.until_logged(world.task(&id).id.as_str(), "ready");
    let begun = std::time::Instant::now();
    world.done("bg_kill", json!({"id": id}));
    let took = begun.elapsed();
    assert!(took >= Duration::from_secs(5), "SIGKILL came after {took:?}");
    let line = world.done("bg_status", json!({"id": id})).text;
    assert!(line.contains("state=killed"), "{line}");
}

#[test]
fn the_timeout_of_a_call_overrides_the_profile_and_zero_means_none() {
    let mut world = world();
    let reply = world.done("bg_start", json!({"command": SLEEPER, "timeout": 300}));
    let id = reply.data["id"].as_str().unwrap().to_owned();
    until_over(&world, &id);
    assert_eq!(world.done("bg_status", json!({"id": id})).data["processes"][0]["state"], "timeout");
    world.call_settings.limits.run_timeout_ms = Some(300);
    let limited = started(&world, SLEEPER);
    let free = world.done("bg_start", json!({"command": SLEEPER, "timeout": 0}));
    until_over(&world, &limited);
    assert_eq!(world.done("bg_status", json!({"id": limited})).data["processes"][0]["state"], "timeout");
    let free = free.data["id"].as_str().unwrap();
    assert_eq!(world.done("bg_status", json!({"id": free})).data["processes"][0]["state"], "running");
}

/// O-060: a process has one line, whatever its name is.
#[test]
fn quotes_newlines_and_control_characters_stay_on_one_line() {
    let world = world().open();
    let command = "echo \"a\" \\\\\n# \x1b[31m\tb\r\u{7f}";
    let reply = world.done("bg_start", json!({"command": command, "label": "x\n\"y\""}));
    let quoted = r##"cmd="echo \"a\" \\\\\n# \u{1b}[31m\tb\r\u{7f}""##;
    assert!(reply.text.ends_with(quoted), "{}", reply.text);
    let line = world.done("bg_status", json!({"id": reply.data["id"]})).text;
    assert!(line.contains(quoted) && line.contains(r#" label="x\n\"y\"""#), "{line}");
    assert_eq!(line.lines().count(), 1);
}
