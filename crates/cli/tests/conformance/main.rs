//! The official conformance suite against our transport and our server, with what the suite looks for by name
//! mounted beside it.
#![forbid(unsafe_code)]
#![expect(clippy::unwrap_used, reason = "helpers run in tests only, where a broken assumption ends the test")]

mod fixtures;
mod jobs;
mod questions;
mod specs;

use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::process::Command;
use std::thread;
use std::time::Duration;

use meanwhile::{AtCapacity, Policy, Programs, Settings};
use mw_agents::Tells;
use mw_agents::hosts::Clues;
use mw_agents::mcp::{HttpOptions, Offer, Server, listen_with};
use mw_model::{EnvVar, Limits};
use mw_testkit::{Home, clients};
use mw_tools::call::{Background, Premises};
use mw_tools::{Dialect, Toolset};

use fixtures::Fixtures;

const TOKEN: &str = "a-token-for-the-suite";

/// Our server in a home, with the fixtures in front of it.
fn fixtures(home: &Home) -> Fixtures {
    let mw = env!("CARGO_BIN_EXE_mw");
    let settle = [mw, "settle", "--home", home.state().to_str().unwrap()];
    let programs = Programs {
        supervisor: PathBuf::from(mw).with_file_name("mw-supervisor"),
        settle: settle.iter().map(|word| (*word).into()).collect(),
        starter_exits: false,
    };
    let path = std::env::var("PATH").unwrap();
    let premises = Premises {
        session: String::new(),
        cwd: home.work(),
        env: vec![EnvVar { name: "PATH".into(), value: path.as_str().into() }],
        umask: 0o022,
        shell: "/bin/sh".into(),
        limits: Limits::default(),
        lifetime: meanwhile::model::Lifetime::Session,
        session_end: mw_tools::call::SessionEnd::Keep,
        at_capacity: AtCapacity::Queue,
        context_stamp: "conformance".to_owned(),
        reply_bytes: 8192,
        stream_bytes: 1 << 20,
        longest_call: Duration::from_secs(60),
        background: Background::On,
        agents: None,
        policy: Policy::open(),
    };
    let offer = Offer {
        settings: Settings::new(home.state().to_owned(), programs),
        premises,
        toolset: specs::toolset(Toolset::of(Dialect::Canonical)),
        dialect: Dialect::Canonical,
        clues: Clues { meanwhile_session: Some("conformance".to_owned()), ..Clues::default() },
        tells: Tells::Replies,
        structured: true,
    };
    Fixtures::before(Server::with_tasks_after(offer, Duration::ZERO))
}

fn at(address: Ipv4Addr) -> HttpOptions {
    HttpOptions { address: SocketAddr::from((address, 0)), token: TOKEN.to_owned() }
}

/// Serves the fixtures in a home; returns where.
fn serve(home: &Home) -> String {
    let listening = listen_with(fixtures(home), &at(Ipv4Addr::LOCALHOST)).unwrap();
    let url = format!("http://{}/mcp", listening.address().unwrap());
    thread::spawn(move || listening.serve().unwrap());
    url
}

/// Runs the suite for a revision. It must pass but for what the list of expected failures names, and must fail in all
/// of that.
fn run(revision: &str) {
    let clients = clients::found();
    let home = Home::new(env!("CARGO_BIN_EXE_mw"));
    let url = serve(&home);
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/conformance");
    let results = home.work().join("results");
    let output = Command::new(clients.node())
        // The suite has no way to say a token; this adds it to all it sends.
        .arg("--import")
        .arg(here.join("bearer.mjs"))
        .arg(clients.package("@modelcontextprotocol/conformance/dist/index.js"))
        .args(["server", "--url", &url, "--requirements", revision, "--expected-failures"])
        .arg(here.join(format!("expected-failures-{revision}.yaml")))
        .arg("--output-dir")
        .arg(&results)
        .env("MW_TEST_TOKEN", TOKEN)
        .env("MW_TEST_UNDICI", clients.package("undici/index.js"))
        .current_dir(home.work())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let complained = String::from_utf8_lossy(&output.stderr);
    if let Ok(kept) = std::env::var("MW_TEST_SUITE_LOG") {
        fs::write(format!("{kept}-{revision}"), format!("{said}\n{complained}")).unwrap();
    }
    assert!(output.status.success(), "{}\n{said}\n{complained}", output.status);
    assert!(said.contains("Passed") || said.contains("passed"), "nothing was checked: {said}");
}

#[test]
fn the_revision_of_2025_11_25_is_conformed_to() {
    run("2025-11-25");
}

#[test]
fn the_revision_of_2026_07_28_is_conformed_to() {
    run("2026-07-28");
}

#[test]
fn an_address_that_others_can_reach_is_refused() {
    let home = Home::new(env!("CARGO_BIN_EXE_mw"));
    let Err(refused) = listen_with(fixtures(&home), &at(Ipv4Addr::UNSPECIFIED)) else {
        panic!("it listens for everybody");
    };
    assert!(refused.to_string().contains("can be reached from other machines"), "{refused}");
}
