//! Arguments that models really send: other types, nulls, unknown fields, and malformed values.

use mw_tools::Dialect;
use mw_tools::call::{Background, CallContext, PatientCaller};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Map, Value, json};

use crate::world::{SLEEPER, World};

#[test]
fn numbers_flags_and_lists_are_accepted_in_common_forms() {
    let world = World::new(Dialect::Canonical);
    let task = world.start("seq 1 5; exec sleep 600");
    world.home.until_logged(task.id.as_str(), "5");
    for (name, value, output) in [
        ("lines", json!("2"), "4\n5\n"),
        ("lines", json!(2.0), "4\n5\n"),
        ("lines", json!(" 1 "), "5\n"),
        ("offset", json!("8"), "5\n"),
        ("stream", json!("STDERR"), ""),
        ("stream", json!(null), "1\n2\n3\n4\n5\n"),
        ("unknown", json!({"deep": [1, {}]}), ""),
    ] {
        let reply = world.done("task_output", json!({"task_id": task.id, name: value, "block": null}));
        assert_eq!(reply.data["output"], output, "{name} = {value}");
    }
    for any in [json!(true), json!("true"), json!("True"), json!("1"), json!("false"), json!(null)] {
        for ids in [json!([task.id]), json!(task.id), json!(format!("[\"{}\"]", task.id))] {
            let reply = world.done("task_wait", json!({"task_ids": ids, "any": any, "timeout": "10"}));
            assert_eq!(reply.data["tasks"][0]["task_id"], json!(task.id), "{ids} {any}");
        }
    }
}

#[test]
fn invalid_arguments_are_refused_by_name() {
    let world = World::new(Dialect::Canonical);
    let id = world.start(SLEEPER).id;
    for (tool, name, value) in [
        ("task_output", "task_id", json!({})),
        ("task_output", "task_id", json!([])),
        ("task_output", "lines", json!("many")),
        ("task_output", "lines", json!(-1)),
        ("task_output", "lines", json!(1e300)),
        ("task_output", "lines", json!("NaN")),
        ("task_output", "block", json!("perhaps")),
        ("task_output", "block", json!(2)),
        ("task_output", "stream", json!("stdin")),
        ("task_output", "stream", json!(1)),
        ("task_wait", "task_ids", json!({"a": 1})),
        ("task_wait", "task_ids", json!([["nested"]])),
        ("task_wait", "task_ids", json!("[\"unclosed")),
        ("task_wait", "port", json!(0)),
        ("task_wait", "port", json!(65_536)),
        ("shell", "command", json!(1)),
        ("shell", "command", json!(true)),
        ("shell", "env", json!("A=1")),
        ("shell", "env", json!({"A": {}})),
        ("shell", "run_in_background", json!([])),
    ] {
        let mut given = json!({"task_id": id, "task_ids": [id], "command": "touch ran"});
        given[name] = value.clone();
        let reply = world.refused(tool, given);
        assert!(reply.text.starts_with(&format!("{name} ")), "{tool} {name} {value}: {}", reply.text);
        assert_eq!(reply.data["error"]["code"], "invalid_argument");
        assert!(reply.text.len() < 200, "{}", reply.text);
    }
    let huge = world.refused("shell", json!({"command": vec!["x"; 100_000]}));
    assert!(huge.text.len() < 200, "{}", huge.text.len());
    assert!(!world.home.has_file("ran"));
    assert_eq!(world.tasks().len(), 1);
}

#[test]
fn an_empty_required_text_is_refused_with_the_reason() {
    let world = World::new(Dialect::Canonical);
    for (tool, given, reason) in [
        ("shell", json!({"command": " "}), "command is empty"),
        ("task_output", json!({"task_id": ""}), "no task \"\""),
        ("task_input", json!({"task_id": "", "text": "x"}), "no task \"\""),
        ("task_resume", json!({"task_id": "", "message": "x"}), "no task \"\""),
    ] {
        let reply = world.refused(tool, given);
        assert!(reply.text.starts_with(reason), "{tool}: {}", reply.text);
    }
    assert_eq!(world.tasks().len(), 0);
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "\\PC{0,12}".prop_map(Value::from),
        prop_oneof![Just("bash-"), Just("bash_1"), Just("true"), Just("[]"), Just("task_20260209_143022_x")]
            .prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec(("\\PC{0,6}", inner), 0..4)
                .prop_map(|pairs| Value::from(pairs.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

/// Only a call whose `command` is a string starts a process.
#[test]
fn malformed_arguments_are_answered_and_start_nothing() {
    for dialect in Dialect::ALL {
        let mut world = World::new(dialect);
        world.call_settings.longest_call = std::time::Duration::from_millis(1);
        world.start(SLEEPER);
        let specs = world.tools.specs(Background::On);
        let mut names: Vec<_> = specs
            .iter()
            .flat_map(|spec| spec.input_schema["properties"].as_object().unwrap().keys().cloned())
            .collect();
        names.push("unknown".to_owned());
        let tools: Vec<_> = specs.into_iter().map(|spec| spec.name).collect();
        let arguments = prop::collection::vec((prop::sample::select(names), any_json()), 0..6);
        let calls = (prop::sample::select(tools), arguments);
        let mut runner =
            TestRunner::new(Config { cases: 1000, failure_persistence: None, ..Config::default() });
        let outcome = runner.run(&calls, |(tool, pairs)| {
            let mut given: Map<_, _> = pairs.into_iter().collect();
            if given.get("command").is_some_and(Value::is_string) {
                given.remove("command");
            }
            let cx = CallContext::new(&world.runtime, &world.call_settings, &PatientCaller);
            let reply = world.tools.call(&tool, &given, &cx);
            prop_assert!(reply.is_some_and(|reply| !reply.text.is_empty() && reply.data.is_object()));
            Ok(())
        });
        outcome.unwrap();
        assert!(world.tasks().len() <= 1, "{dialect:?}");
    }
}
