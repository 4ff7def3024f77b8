//! Third-party clients: the official Python SDK in both revisions, and the command line of the MCP Inspector.

use std::path::Path;
use std::time::Duration;

use mw_testkit::{Home, Outcome, children, clients};
use serde_json::Value;

use crate::home;

fn drive(mode: &str, transport: &str, steps: usize) {
    let clients = clients::found();
    // Every command is confined. In mode safe, input would need approval.
    let home = home().gated().with_env("MEANWHILE_MODE", "auto");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mcp/clients/drive.py");
    let mut invocation = home.program(clients.python()).arg(script).arg(env!("CARGO_BIN_EXE_mw"));
    for word in [mode, transport] {
        invocation = invocation.arg(word);
    }
    let done = invocation.arg(home.work()).session("python").limit(Duration::from_secs(300)).run();
    assert_eq!(done.code, Some(0), "{done}");
    assert!(done.text().ends_with(&format!("{steps} steps done\n")), "{done}");
}

#[test]
fn the_python_sdk_works_on_stdio_in_the_older_revision() {
    drive("legacy", "stdio", 13);
}

#[test]
fn the_python_sdk_works_on_stdio_in_the_current_revision() {
    drive("auto", "stdio", 14);
}

#[test]
fn the_python_sdk_works_over_http_in_the_older_revision() {
    drive("legacy", "http", 13);
}

#[test]
fn the_python_sdk_works_over_http_in_the_current_revision() {
    drive("auto", "http", 14);
}

/// Creates a home, if the inspector is installed.
fn home_of_inspector() -> Home {
    let _ = clients::found();
    home()
}

/// Runs the inspector's command line against `mw mcp`.
fn inspect(home: &Home, era: &str, words: &[&str]) -> Outcome {
    let clients = clients::found();
    let launcher = clients.package("@modelcontextprotocol/inspector/clients/launcher/build/index.js");
    let mut invocation = home.program(clients.node()).session("inspector").arg(launcher).arg("--cli");
    // It passes only the listed variables to its servers.
    let passed = [
        format!("MEANWHILE_HOME={}", home.state().display()),
        format!("MW_TEST_TAG={}", home.work().parent().unwrap().display()),
        "MEANWHILE_SESSION=inspector".to_owned(),
    ];
    for variable in &passed {
        invocation = invocation.arg("-e").arg(variable);
    }
    for word in ["--protocol-era", era, env!("CARGO_BIN_EXE_mw"), "mcp", "--structured"].iter().chain(words) {
        invocation = invocation.arg(word);
    }
    invocation.limit(Duration::from_secs(240)).run()
}

fn inspected(home: &Home, era: &str, words: &[&str]) -> Value {
    let done = inspect(home, era, words);
    assert_eq!(done.code, Some(0), "{era}: {done}");
    done.json()
}

#[test]
fn the_inspector_accepts_all_tools() {
    for era in ["modern", "legacy"] {
        let home = home_of_inspector();
        let words = ["--method", "tools/list", "--strict"];
        let listed = inspected(&home, era, &words);
        let tools = listed["tools"].as_array().unwrap();
        assert_eq!(tools.len(), 9, "{listed}");
    }
}

#[test]
fn the_inspector_gets_the_result_of_a_long_command() {
    // In the older revision it declares tasks but cannot use them.
    for era in ["modern", "legacy"] {
        let home = home_of_inspector();
        let script = "command=sleep 3; echo after a while; exit 3";
        let words = ["--method", "tools/call", "--tool-name", "shell", "--tool-arg", script];
        let result = inspected(&home, era, &words);
        assert_eq!(result["structuredContent"]["exit_code"], 3, "{era}: {result}");
        assert!(result.to_string().contains("after a while"), "{era}: {result}");
    }
}

#[test]
fn the_inspector_reads_resources() {
    for era in ["modern", "legacy"] {
        let home = home_of_inspector();
        let started =
            home.command(["start", "--json", "echo for the inspector"]).session("inspector").run().json();
        let task = started["id"].as_str().unwrap();
        home.ended(task);
        let listed = inspected(&home, era, &["--method", "resources/list"]);
        let uri = format!("meanwhile://tasks/{task}/output");
        assert!(listed.to_string().contains(&uri), "{era}: {listed}");
        let read = inspected(&home, era, &["--method", "resources/read", "--uri", &uri]);
        assert!(read.to_string().contains("for the inspector"), "{era}: {read}");
    }
}

#[test]
fn a_task_outlives_the_inspector_that_started_it() {
    let home = home_of_inspector();
    let script = format!("command={}", children::SLEEPER);
    let words = [
        "--method",
        "tools/call",
        "--tool-name",
        "shell",
        "--tool-arg",
        &script,
        "--tool-arg",
        "run_in_background=true",
    ];
    let started = inspected(&home, "modern", &words);
    let task = started["structuredContent"]["task_id"].as_str().unwrap();
    assert_eq!(home.status(task)["status"], "running");
}
