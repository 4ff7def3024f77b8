//! The official conformance suite against the server of `mw mcp --http`, to which `examples/conformance_server` adds the
//! tools, resources and prompts that the suite calls.
#![forbid(unsafe_code)]
#![expect(clippy::unwrap_used, reason = "helpers run in tests only, where a broken assumption ends the test")]

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use mw_testkit::{Home, SOON, clients, wait_until};

/// Runs scenarios of the suite. All must pass but those that the list of expected failures names, and those must fail.
fn run(scenarios: [&str; 2]) {
    let clients = clients::found();
    let home = Home::new(env!("CARGO_BIN_EXE_mw"));
    let program = PathBuf::from(env!("CARGO_BIN_EXE_mw")).with_file_name("examples/conformance_server");
    assert!(program.exists(), "{} is missing: build mw-cli with its examples", program.display());
    let server = home.program(program).arg("0").spawn();
    let served = wait_until(SOON, "the server listens", || server.json_lines().into_iter().next());
    let said = |name: &str| served[name].as_str().unwrap();
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/conformance");
    let output = Command::new(clients.node())
        // The suite has no option for a token; this adds it to all requests.
        .arg("--import")
        .arg(here.join("bearer.mjs"))
        .arg(clients.package("@modelcontextprotocol/conformance/dist/index.js"))
        .args(["server", "--url", said("url")])
        .args(scenarios)
        .arg("--expected-failures")
        .arg(here.join("expected-failures.yaml"))
        .arg("--output-dir")
        .arg(home.work().join("results"))
        .env("MW_TEST_TOKEN", said("token"))
        .env("MW_TEST_UNDICI", clients.package("undici/index.js"))
        .current_dir(home.work())
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    let complained = String::from_utf8_lossy(&output.stderr);
    if let Ok(kept) = std::env::var("MW_TEST_SUITE_LOG") {
        fs::write(format!("{kept}{}", scenarios.concat()), format!("{printed}\n{complained}")).unwrap();
    }
    assert!(output.status.success(), "{}\n{printed}\n{complained}", output.status);
    assert!(printed.contains("Passed") || printed.contains("passed"), "nothing was checked: {printed}");
}

#[test]
fn the_server_conforms_to_revision_2025_11_25() {
    run(["--requirements", "2025-11-25"]);
}

#[test]
fn the_server_conforms_to_revision_2026_07_28() {
    run(["--requirements", "2026-07-28"]);
}

/// The revisions require no extension; this run includes protocol tasks.
#[test]
fn all_server_scenarios_pass() {
    run(["--suite", "all"]);
}
