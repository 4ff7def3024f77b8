//! `mw doctor`: reports problems and changes nothing.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use mw_testkit::{Home, SOON, wait_until};
use serde_json::Value;

use crate::home;
use crate::setup::{agree, put};

fn diagnosis(home: &Home) -> Value {
    home.mw(["doctor", "--json"]).json()
}

fn check(diagnosis: &Value, name: &str) -> Value {
    let checks = diagnosis["checks"].as_array().unwrap();
    let found = checks.iter().find(|check| check["name"] == name);
    found.unwrap_or_else(|| panic!("no check {name}: {diagnosis}")).clone()
}

/// Returns everything below a directory: names, sizes, modes, modification times and contents.
fn snapshot(directory: &Path) -> Vec<String> {
    let mut all = Vec::new();
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let found = entry.path().symlink_metadata().unwrap();
        let content = if found.is_file() { fs::read(entry.path()).unwrap() } else { Vec::new() };
        all.push(format!(
            "{:?} {:o} {} {} {content:?}",
            entry.path(),
            found.mode(),
            found.mtime(),
            found.mtime_nsec()
        ));
        if found.is_dir() {
            all.extend(snapshot(&entry.path()));
        }
    }
    all.sort();
    all
}

/// Nothing that is configured needs the sandbox, and commands of models are confined without it.
#[test]
fn a_kernel_without_a_sandbox_is_a_warning() {
    let home = home().with_env("MEANWHILE_LACKS", "pids");
    let report = home.mw(["doctor", "--json"]).exits(0).json();
    let sandbox = check(&report, "back-end sandbox");
    assert_eq!(sandbox["verdict"], "warning", "{report}");
    assert!(sandbox.to_string().contains("pids"), "{sandbox}");
    assert!(!check(&report, "confinement").to_string().contains("missing: pids"), "{report}");
}

#[test]
fn a_healthy_home_is_reported_healthy_and_unchanged() {
    let home = home();
    let id = home.start("exit 0");
    home.ended(&id);
    home.mw(["list"]).ok();
    home.wait_until_empty(SOON);
    let before = snapshot(home.state());
    let outcome = home.mw(["doctor", "--json"]).exits(0);
    assert_eq!(snapshot(home.state()), before);
    let found = outcome.json();
    for name in ["home", "database", "tasks", "supervisor", "pidfd", "subreaper", "speed"] {
        assert_eq!(check(&found, name)["verdict"], "ok", "{found}");
    }
    for name in ["start_ms", "wake_ms", "kill_ms", "idle_wake_ms"] {
        assert!(found["measured"][name].as_f64().unwrap() > 0.0, "{name}: {found}");
    }
    let text = home.mw(["doctor"]).ok();
    assert!(text.contains("✓ home") && text.contains("median of"), "{text}");
}

#[test]
fn a_missing_home_is_not_created() {
    let home = home();
    assert_eq!(check(&diagnosis(&home), "home")["verdict"], "ok");
    assert!(!home.state().exists());
}

#[test]
fn the_measurement_leaves_no_files_or_processes() {
    let home = home();
    let scratch = home.work().join("tmp");
    fs::create_dir(&scratch).unwrap();
    home.command(["doctor"]).env("TMPDIR", &scratch).run().ok();
    assert_eq!(fs::read_dir(&scratch).unwrap().count(), 0);
    let inside = |pid: &u32| mw_testkit::processes::cwd(*pid).is_some_and(|cwd| cwd.starts_with(&scratch));
    wait_until(SOON, "the processes of the measurement have ended", || {
        (!mw_testkit::processes::all().iter().any(inside)).then_some(())
    });
}

#[test]
fn a_home_that_is_a_file_or_accessible_to_others_is_reported() {
    let home = home();
    home.mw(["list"]).ok();
    fs::set_permissions(home.state(), Permissions::from_mode(0o755)).unwrap();
    let open = check(&diagnosis(&home), "home");
    assert_eq!(open["verdict"], "warning", "{open}");
    assert!(open["next"].as_str().unwrap().contains("chmod 700"), "{open}");
    let file = home.work().join("file");
    fs::write(&file, "").unwrap();
    let outcome = home.command(["doctor", "--json"]).env("MEANWHILE_HOME", &file).run().exits(1);
    assert_eq!(check(&outcome.json(), "home")["verdict"], "problem");
}

#[test]
fn a_damaged_database_is_reported_and_unchanged() {
    let home = home();
    let id = home.start("exit 0");
    home.ended(&id);
    home.mw(["list"]).ok();
    home.wait_until_empty(SOON);
    let path = home.state().join("meanwhile.db");
    let damaged = b"this is no database, and long enough to be looked at".repeat(100);
    fs::write(&path, &damaged).unwrap();
    // Otherwise the write-ahead log still contains all data.
    fs::remove_file(home.state().join("meanwhile.db-wal")).unwrap();
    let outcome = home.mw(["doctor", "--json"]).exits(1);
    let database = check(&outcome.json(), "database");
    assert_eq!(database["verdict"], "problem", "{outcome}");
    assert!(database["next"].as_str().unwrap().contains("sets it aside"), "{database}");
    assert_eq!(fs::read(&path).unwrap(), damaged);
    let text = home.mw(["doctor"]).exits(1).text();
    assert!(text.contains("✗ database") && text.contains("1 problem to fix"), "{text}");
}

/// An older copy of the database lacks a newer task.
#[test]
fn task_directories_missing_in_the_database_are_reported() {
    let home = home();
    let files = ["meanwhile.db", "meanwhile.db-wal", "meanwhile.db-shm"];
    let first = home.start("exit 0");
    home.ended(&first);
    home.mw(["list"]).ok();
    home.wait_until_empty(SOON);
    let kept = files.map(|file| fs::read(home.state().join(file)).ok());
    let second = home.start("exit 0");
    home.ended(&second);
    home.mw(["list"]).ok();
    home.wait_until_empty(SOON);
    for (file, bytes) in files.iter().zip(kept) {
        let path = home.state().join(file);
        let _ = fs::remove_file(&path);
        bytes.into_iter().for_each(|bytes| fs::write(&path, bytes).unwrap());
    }
    let text = home.mw(["doctor"]).text();
    assert!(text.contains("1 task directory is not in the database"), "{text}");
    fs::remove_file(home.state().join("arrivals")).unwrap();
    assert_eq!(home.list().len(), 2, "the missing task was added again");
}

#[test]
fn a_missing_or_different_supervisor_is_reported() {
    let home = home();
    let ask = |path: &Path| {
        let outcome = home.command(["doctor", "--json"]).env("MEANWHILE_SUPERVISOR", path).run().exits(1);
        check(&outcome.json(), "supervisor")
    };
    assert_eq!(ask(Path::new("/nowhere/mw-supervisor"))["verdict"], "problem");
    let other = home.work().join("mw-supervisor");
    fs::write(&other, "#!/bin/sh\necho '{\"version\":\"0.0.7\"}'\n").unwrap();
    fs::set_permissions(&other, Permissions::from_mode(0o755)).unwrap();
    let found = ask(&other);
    assert!(found["detail"].as_str().unwrap().contains("0.0.7"), "{found}");
    let mute = home.work().join("mute");
    fs::write(&mute, "#!/bin/sh\nexit 1\n").unwrap();
    fs::set_permissions(&mute, Permissions::from_mode(0o755)).unwrap();
    assert_eq!(ask(&mute)["verdict"], "problem");
}

#[test]
fn an_unsupervised_task_is_reported_and_unchanged() {
    let home = home();
    let id = home.start("exec sleep 600");
    home.kill_supervisors(&id);
    let found = check(&diagnosis(&home), "tasks");
    assert_eq!(found["verdict"], "warning", "{found}");
    assert!(found["detail"].as_str().unwrap().contains(&id), "{found}");
    assert_eq!(home.supervisors_of(&id), Vec::<u32>::new());
    home.mw(["list"]).ok();
    let found = check(&diagnosis(&home), "tasks");
    assert_eq!(found["verdict"], "ok", "{found}");
}

#[test]
fn host_settings_are_compared_with_this_executable() {
    let home = home();
    agree(&home, &["cursor"]);
    assert_eq!(check(&diagnosis(&home), "cursor")["verdict"], "ok");
    put(&home, ".cursor/mcp.json", r#"{"mcpServers":{"meanwhile":{"command":"/gone/mw","args":["mcp"]}}}"#);
    let outcome = home.mw(["doctor", "--json"]).exits(1);
    let gone = check(&outcome.json(), "cursor");
    assert!(gone["detail"].as_str().unwrap().contains("/gone/mw"), "{gone}");
    assert!(gone["next"].as_str().unwrap().contains("mw setup cursor"), "{gone}");
    put(
        &home,
        ".gemini/settings.json",
        r#"{"hooks":{"AfterTool":[{"hooks":[{"command":"'/also gone/mw' hook gemini"}]}]}}"#,
    );
    let gone = check(&diagnosis(&home), "gemini");
    assert!(gone["detail"].as_str().unwrap().contains("/also gone/mw does not exist"), "{gone}");
    fs::remove_dir_all(home.user().join(".gemini")).unwrap();
    put(&home, ".cursor/mcp.json", r#"{"mcpServers":{"meanwhile":{"command":"sh","args":[]}}}"#);
    assert_eq!(check(&diagnosis(&home), "cursor")["verdict"], "warning");
}
