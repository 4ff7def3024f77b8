//! The agent's settings take effect, set by a variable or in the configuration file.

use std::fs;
use std::time::Duration;

use mw_testkit::Home;
use mw_testkit::model_endpoint::{Answer, ModelEndpoint};

use crate::KEY;
use crate::editor::{Editor, Turn};

/// Runs a turn with a setting, once set by its variable and once in the file.
fn both_ways(
    name: &str,
    value: &str,
    answer: impl Fn(&ModelEndpoint),
    check: impl Fn(&ModelEndpoint, &Turn),
) {
    let variable = format!("MEANWHILE_{}", name.to_uppercase().replace('.', "_"));
    let (section, key) = name.split_once('.').unwrap();
    let quoted = if value.parse::<u64>().is_ok() { value.to_owned() } else { format!("{value:?}") };
    for in_file in [false, true] {
        let endpoint = ModelEndpoint::new();
        answer(&endpoint);
        let mut home = Home::new(env!("CARGO_BIN_EXE_mw")).with_env("OPENAI_API_KEY", KEY);
        let place = home.user().join("configuration");
        fs::create_dir_all(place.join("meanwhile")).unwrap();
        if name != "agent.base_url" {
            home = home.with_env("OPENAI_BASE_URL", endpoint.openai_url());
        }
        if name != "agent.model" {
            home = home.with_env("OPENAI_MODEL", "by-variable");
        }
        let (value, quoted) = match name {
            "agent.base_url" => (endpoint.openai_url(), format!("{:?}", endpoint.openai_url())),
            _ => (value.to_owned(), quoted.clone()),
        };
        let home = if in_file {
            fs::write(place.join("meanwhile/config.toml"), format!("[{section}]\n{key} = {quoted}\n"))
                .unwrap();
            home.with_env("XDG_CONFIG_HOME", place)
        } else {
            home.with_env(&variable, value)
        };
        let turn = Editor::new(&home).turn("go");
        check(&endpoint, &turn);
    }
}

#[test]
fn agent_model_takes_effect() {
    both_ways(
        "agent.model",
        "openai/by-setting",
        |endpoint| _ = endpoint.will(Answer::text("ok")),
        |endpoint, _| assert_eq!(endpoint.request(0).body["model"], "by-setting"),
    );
}

#[test]
fn agent_base_url_takes_effect() {
    both_ways(
        "agent.base_url",
        "",
        |endpoint| _ = endpoint.will(Answer::text("here")),
        |_, turn| assert_eq!(turn.said(), "here"),
    );
}

#[test]
fn agent_key_file_takes_effect() {
    let place = Home::new(env!("CARGO_BIN_EXE_mw"));
    let file = place.user().join("key");
    fs::write(&file, "key-of-the-file").unwrap();
    both_ways(
        "agent.key_file",
        file.to_str().unwrap(),
        |endpoint| _ = endpoint.will(Answer::text("ok")),
        |endpoint, _| assert_eq!(endpoint.request(0).header("authorization"), Some("Bearer key-of-the-file")),
    );
}

#[test]
fn agent_context_tokens_takes_effect() {
    both_ways(
        "agent.context_tokens",
        "5000",
        |endpoint| _ = endpoint.will(Answer::text("ok")),
        |_, turn| assert_eq!(turn.of("usage_update")[0]["size"], 5000),
    );
}

#[test]
fn agent_max_requests_takes_effect() {
    both_ways(
        "agent.max_requests",
        "3",
        |endpoint| {
            endpoint.otherwise(|_| Answer::empty().call("glob", serde_json::json!({"pattern": "*"})));
        },
        |endpoint, turn| {
            assert_eq!((turn.reason(), endpoint.requests().len()), ("max_turn_requests", 3));
        },
    );
}

/// O-006: the limit counts calls, not responses or running tasks.
#[test]
fn agent_max_calls_takes_effect() {
    let start = || serde_json::json!({"command": "exec sleep 600", "run_in_background": true});
    both_ways(
        "agent.max_calls",
        "3",
        |endpoint| {
            let two = move || Answer::empty().call("shell", start()).call("task_list", serde_json::json!({}));
            endpoint.will(two()).will(two());
        },
        |endpoint, turn| {
            assert_eq!((turn.reason(), endpoint.requests().len()), ("max_turn_requests", 2));
            let results = turn.results();
            assert_eq!(results.len(), 3, "the fourth call was not made: {results:?}");
            assert!(results.iter().all(|(status, _)| status == "completed"), "{results:?}");
        },
    );
}

#[test]
fn agent_silence_ms_takes_effect() {
    both_ways(
        "agent.silence_ms",
        "200",
        |endpoint| _ = endpoint.will(Answer::text("well").pause(Duration::from_secs(20))),
        |_, turn| assert!(turn.error().contains("stopped in the middle of its answer"), "{}", turn.error()),
    );
}
