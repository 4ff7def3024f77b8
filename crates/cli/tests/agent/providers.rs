//! The three wire formats, each with a call and its result.

use std::fs;

use mw_testkit::Home;
use mw_testkit::model_endpoint::{Answer, ModelEndpoint, Wire};
use serde_json::json;

use crate::editor::Editor;

fn works(home: &Home, endpoint: &ModelEndpoint, wire: Wire, arguments: &[&str]) {
    endpoint.will(Answer::text("I look.").call("shell", json!({"command": "echo seen"})).usage(50, 5));
    endpoint.will(Answer::text("Done."));
    let mut command = home.command(["acp"]);
    for argument in arguments {
        command = command.arg(argument);
    }
    let turn = Editor::of(home, command).turn("look");
    assert_eq!((turn.reason(), turn.said().as_str()), ("end_turn", "I look.Done."), "{wire:?}");
    assert_eq!(turn.of("usage_update")[0]["used"], 55, "{wire:?}");
    let asked = endpoint.requests();
    assert!(asked.iter().all(|request| request.wire == Some(wire)), "{asked:?}");
    assert!(asked[1].says("seen") && asked[1].says("You are a coding agent"), "{}", asked[1].body);
}

#[test]
fn anthropic_requests_have_its_format() {
    let endpoint = ModelEndpoint::new();
    let home = Home::new(env!("CARGO_BIN_EXE_mw"))
        .with_env("ANTHROPIC_BASE_URL", endpoint.url())
        .with_env("ANTHROPIC_API_KEY", "key-of-anthropic");
    works(&home, &endpoint, Wire::Anthropic, &["--model", "anthropic/claude-scripted"]);
    let asked = endpoint.request(0);
    assert_eq!((asked.path.as_str(), asked.header("x-api-key")), ("/v1/messages", Some("key-of-anthropic")));
    assert_eq!(asked.body["model"], "claude-scripted");
}

#[test]
fn ollama_requests_have_its_format_and_no_key() {
    let endpoint = ModelEndpoint::new();
    let host = endpoint.url().trim_start_matches("http://").to_owned();
    let home = Home::new(env!("CARGO_BIN_EXE_mw")).with_env("OLLAMA_HOST", host);
    works(&home, &endpoint, Wire::Ollama, &["--model", "qwen3"]);
    assert_eq!(endpoint.request(0).body["model"], "qwen3");
}

#[test]
fn compatible_endpoints_get_the_openai_format() {
    let endpoint = ModelEndpoint::new();
    let home = Home::new(env!("CARGO_BIN_EXE_mw"))
        .with_env("OPENAI_BASE_URL", endpoint.openai_url())
        .with_env("OPENAI_MODEL", "vendor/model");
    works(&home, &endpoint, Wire::OpenAi, &[]);
    assert_eq!(endpoint.request(0).body["model"], "vendor/model");
}

#[test]
fn a_local_model_works_without_system_certificates() {
    let endpoint = ModelEndpoint::new();
    let home = Home::new(env!("CARGO_BIN_EXE_mw"));
    fs::write(home.user().join("none"), "").unwrap();
    let (file, directory) = (home.user().join("none"), home.user());
    let home = home
        .with_env("OPENAI_BASE_URL", endpoint.openai_url())
        .with_env("SSL_CERT_FILE", file)
        .with_env("SSL_CERT_DIR", directory);
    works(&home, &endpoint, Wire::OpenAi, &["--model", "m"]);
    let home = home.with_env("OPENAI_BASE_URL", "https://127.0.0.1:1/v1");
    let mut editor = Editor::greeting(home.command(["acp", "--model", "m"]), &json!({}));
    let refused = editor.ask("session/new", &json!({"cwd": home.work(), "mcpServers": []}));
    assert!(refused["error"]["message"].as_str().unwrap().contains("certificates"), "{refused}");
}

#[test]
fn the_key_can_be_read_from_a_file() {
    let endpoint = ModelEndpoint::new();
    let home = Home::new(env!("CARGO_BIN_EXE_mw"));
    let file = home.user().join("key");
    fs::write(&file, "key-in-a-file\n").unwrap();
    let home = home
        .with_env("MEANWHILE_AGENT_BASE_URL", endpoint.openai_url())
        .with_env("MEANWHILE_AGENT_KEY_FILE", &file)
        .with_env("OPENAI_API_KEY", "another-key");
    works(&home, &endpoint, Wire::OpenAi, &["--model", "openai/m"]);
    assert_eq!(endpoint.request(0).header("authorization"), Some("Bearer key-in-a-file"));
    fs::remove_file(&file).unwrap();
    let stderr = home.mw(["acp"]).exits(2).stderr_text();
    assert!(stderr.contains("key file") && stderr.contains("agent.key_file"), "{stderr}");
}
