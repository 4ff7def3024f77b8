//! `mw`, `mw-engine` and `mw-surfaces`: which of the executables runs a command.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use mw_testkit::{Home, SOON, processes, wait_until};
use serde_json::Value;

use crate::home;
use crate::otlp_receiver::{Manner, Receiver};

const MW: &str = env!("CARGO_BIN_EXE_mw");
const ENDPOINT: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";

/// Returns the path of an executable next to `mw`.
fn beside(name: &str) -> PathBuf {
    Path::new(MW).with_file_name(name)
}

/// Returns the path of an `mw` in a separate directory, with its engine and without `mw-surfaces`.
fn mw_and_engine(shelf: &Home) -> PathBuf {
    for name in ["mw", "mw-engine"] {
        shelf.program("cp").arg(beside(name)).arg(shelf.work().join(name)).run().ok();
    }
    shelf.work().join("mw")
}

/// Returns a home that uses such an `mw`, with a supervisor.
fn home_of(mw: &Path) -> Home {
    Home::new(mw).with_env("MEANWHILE_SUPERVISOR", beside("mw-supervisor"))
}

#[test]
fn a_command_of_mw_surfaces_replaces_the_called_process() {
    let home = home();
    let server = home.command(["mcp", "--http", "0"]).spawn();
    wait_until(SOON, "the server listens", || server.printed().contains("/mcp").then_some(()));
    let executable = fs::read_link(format!("/proc/{}/exe", server.pid())).unwrap();
    assert_eq!(executable, beside("mw-surfaces").canonicalize().unwrap());
    assert_eq!(processes::command_line(server.pid())[..4], [MW, "mcp", "--http", "0"]);
    assert!(processes::children_of(server.pid()).is_empty());
    let _ = server.kill();
}

#[test]
fn help_and_errors_of_mw_surfaces_name_mw() {
    let home = home();
    for command in ["mcp", "tools", "traces", "setup", "hook", "doctor"] {
        let help = home.mw([command, "--help"]).ok();
        assert!(help.contains(&format!("Usage: mw {command}")), "{help}");
        assert_eq!(home.mw(["help", command]).ok(), help);
    }
    let refused = home.mw(["mcp", "--http", "many"]).exits(2).stderr_text();
    assert!(refused.contains("--http") && !refused.contains("surfaces"), "{refused}");
    assert_eq!(home.mw(["hook", "nobody"]).exits(1).stderr_text().matches("mw-surfaces").count(), 0);
}

#[test]
fn a_missing_mw_surfaces_is_named_with_a_next_step() {
    let shelf = home();
    let mw = mw_and_engine(&shelf);
    let home = home_of(&mw);
    home.mw(["start", "true"]).ok();
    let refused = home.mw(["doctor"]).exits(1).stderr_text();
    let missing = mw.with_file_name("mw-surfaces");
    assert!(refused.contains(&format!("this command needs {}, which is missing", missing.display())));
    assert!(refused.contains("cargo xtask install"), "{refused}");
    assert_eq!(home.mw(["doctor", "--json"]).refusal(1)["code"], "installation");
    // A host would treat exit code 2 as a blocked prompt.
    let _ = home.command(["hook", "claude-code"]).input("{}").run().exits(1);
    fs::write(&missing, "no program").unwrap();
    let refused = home.mw(["doctor"]).exits(1).stderr_text();
    assert!(refused.contains("cannot be run"), "{refused}");
}

#[test]
fn a_missing_engine_is_named_with_a_next_step() {
    let shelf = home();
    let mw = mw_and_engine(&shelf);
    let engine = mw.with_file_name("mw-engine");
    fs::remove_file(&engine).unwrap();
    let home = home_of(&mw);
    let refused = home.mw(["list"]).exits(1).stderr_text();
    assert!(refused.contains(&format!("this command needs {}, which is missing", engine.display())));
    assert_eq!(home.mw(["list", "--json"]).refusal(1)["code"], "installation");
}

#[test]
fn the_usual_start_needs_no_engine_and_every_other_command_becomes_it() {
    let shelf = home();
    let mw = mw_and_engine(&shelf);
    shelf.program("cp").arg(beside("mw-supervisor")).arg(mw.with_file_name("mw-supervisor")).run().ok();
    let home = Home::new(&mw);
    // The first task of a session gets its number from the database.
    let first = home.start("true");
    fs::remove_file(mw.with_file_name("mw-engine")).unwrap();
    let direct = home.mw(["start", "--json", "exec sleep 600"]).json();
    let (id, pid) = (direct["id"].as_str().unwrap(), direct["pid"].as_u64().unwrap());
    let supervisor = processes::stat(u32::try_from(pid).unwrap()).unwrap().parent;
    let executable = fs::read_link(format!("/proc/{supervisor}/exe")).unwrap();
    assert_eq!(executable, mw, "mw has forked the supervisor");
    let words = processes::command_line(supervisor);
    assert_eq!(words.join(""), "mw-supervisor", "the task's command is not in it");
    let _ = home.mw(["start", "--name", "n", "true"]).exits(1);
    let _ = home.mw(["status", &first]).exits(1);
    shelf.program("cp").arg(beside("mw-engine")).arg(mw.with_file_name("mw-engine")).run().ok();
    home.ended(&first);
    home.mw(["kill", id]).ok();
}

#[test]
fn executables_of_different_versions_are_detected() {
    let home = home();
    let surfaces = beside("mw-surfaces");
    let refused = home.program(&surfaces).arg("doctor").arg("0.0.7").run().exits(1).stderr_text();
    let versions = format!("mw is version 0.0.7, mw-surfaces next to it is {}", env!("CARGO_PKG_VERSION"));
    assert!(refused.contains(&versions) && refused.contains("cargo xtask install"), "{refused}");
    let by_hand = home.program(&surfaces).arg("doctor").run().exits(2).stderr_text();
    assert!(by_hand.contains("run mw instead"), "{by_hand}");
    let _ = home.program(&surfaces).run().exits(2);
    let small = home.program(&surfaces).arg("list").arg(env!("CARGO_PKG_VERSION")).run().exits(2);
    assert!(small.stderr_text().contains("run mw instead"), "{small}");
}

#[test]
fn an_end_starts_mw_surfaces_only_if_there_are_spans_to_export() {
    let shelf = home();
    let mw = mw_and_engine(&shelf);
    let calls = shelf.work().join("calls");
    let stand_in = mw.with_file_name("mw-surfaces");
    fs::write(&stand_in, format!("#!/bin/sh\necho \"$@\" >> '{}'\n", calls.display())).unwrap();
    fs::set_permissions(&stand_in, Permissions::from_mode(0o755)).unwrap();
    let called = || fs::read_to_string(&calls).unwrap_or_default();
    let quiet = home_of(&mw);
    quiet.ended(&quiet.start("true"));
    quiet.wait_until_empty(SOON);
    let off =
        home_of(&mw).with_env(ENDPOINT, "http://127.0.0.1:9").with_env("OTEL_TRACES_SAMPLER", "always_off");
    off.ended(&off.start("true"));
    off.wait_until_empty(SOON);
    assert_eq!(called(), "");
    let on = home_of(&mw).with_env(ENDPOINT, "http://127.0.0.1:9");
    let id = on.start("true");
    on.ended(&id);
    on.wait_until_empty(SOON);
    let words = called();
    let end = format!(" {id} {}\n", env!("CARGO_PKG_VERSION"));
    assert!(words.starts_with("settle --home ") && words.ends_with(&end), "{words}");
    assert_eq!(words.lines().count(), 1, "{words}");
}

#[test]
fn spans_wait_while_mw_surfaces_is_missing_and_traces_says_so() {
    let shelf = home();
    let mw = mw_and_engine(&shelf);
    let receiver = Receiver::new(Manner::Takes);
    let home = home_of(&mw).with_env(ENDPOINT, &receiver.endpoint);
    let id = home.start("exit 3");
    assert_eq!(home.ended(&id)["exit_code"], 3);
    home.wait_until_empty(SOON);
    let whole = |words: &[&str]| -> Value {
        let invocation = words.iter().fold(home.program(MW), |invocation, word| invocation.arg(word));
        invocation.run().exits(0).json()
    };
    let state = whole(&["traces", "--json"])["export"].clone();
    assert_eq!((&state["waiting"], &state["failures"]), (&2.into(), &1.into()));
    assert!(state["error"].as_str().unwrap().contains("mw-surfaces, which is missing"));
    assert_eq!(whole(&["traces", "--export", "--json"])["delivered"], 2);
    assert_eq!(receiver.spans().len(), 2);
}
