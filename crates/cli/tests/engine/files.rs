//! Files on disk and their permissions.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use mw_model::wire::{RESULT_FILE, SPEC_FILE};
use mw_testkit::{Home, children, wait_until};

use crate::home;

/// Collects all paths below `path` that other users can access.
fn open_to_others(path: &Path, found: &mut Vec<String>) {
    // Running and just ended tasks rename and remove their files.
    let Ok(meta) = fs::symlink_metadata(path) else { return };
    if !meta.is_symlink() && meta.permissions().mode() & 0o077 != 0 {
        found.push(format!("{:o} {}", meta.permissions().mode(), path.display()));
    }
    if meta.is_dir() {
        for entry in fs::read_dir(path).into_iter().flatten() {
            open_to_others(&entry.unwrap().path(), found);
        }
    }
}

#[test]
fn all_files_are_accessible_to_the_owner_only() {
    let home = home();
    let loose = home
        .program("/bin/sh")
        .arg("-c")
        .arg("umask 000; exec \"$0\" start --json --stdin \"$1\"")
        .arg(env!("CARGO_BIN_EXE_mw"))
        .arg(children::gated("go", 0))
        .run();
    let live = loose.exits(0).json()["id"].as_str().unwrap().to_owned();
    home.until_logged(&live, "waiting");
    home.ended(&home.start("exit 3"));
    let mut found = Vec::new();
    open_to_others(home.state(), &mut found);
    assert_eq!(found, [""; 0]);
}

#[test]
fn a_task_has_the_callers_umask() {
    let home = home();
    let outcome = home
        .program("/bin/sh")
        .arg("-c")
        .arg("umask 027; exec \"$0\" start --json umask")
        .arg(env!("CARGO_BIN_EXE_mw"))
        .run();
    let id = outcome.exits(0).json()["id"].as_str().unwrap().to_owned();
    home.ended(&id);
    assert_eq!(home.log(&id), b"0027\n");
}

#[test]
fn values_of_variables_are_stored_in_the_spec_only() {
    let home = home();
    let secret = "s3cr3t-value-of-this-test";
    let id = home.start_with(&["--env", &format!("API_TOKEN={secret}")], "exit 1");
    home.ended(&id);
    home.wait_until_empty(mw_testkit::SOON);
    let mut holders = Vec::new();
    holders_of(home.state(), secret.as_bytes(), &mut holders);
    assert_eq!(holders, [home.task_dir(&id).join(SPEC_FILE)]);
    for command in ["status", "list", "watch"] {
        let outcome = match command {
            "status" => home.mw(["status", "--json", &id]),
            "list" => home.mw(["list", "--json"]),
            _ => home.mw(["watch", "--no-follow"]),
        };
        assert!(!outcome.ok().contains(secret), "{outcome}");
    }
}

fn holders_of(path: &Path, needle: &[u8], found: &mut Vec<std::path::PathBuf>) {
    let kind = fs::symlink_metadata(path).unwrap().file_type();
    if kind.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            holders_of(&entry.unwrap().path(), needle, found);
        }
    } else if kind.is_file() {
        let bytes = fs::read(path).unwrap();
        if bytes.windows(needle.len()).any(|window| window == needle) {
            found.push(path.to_owned());
        }
    }
}

#[test]
fn the_exit_record_has_code_sizes_line_counts_and_times() {
    let home = home();
    let id = home.start("echo a; echo b; echo c >&2; exit 2");
    home.ended(&id);
    home.wait_until_empty(mw_testkit::SOON);
    let text = fs::read(home.task_dir(&id).join(RESULT_FILE)).unwrap();
    let record: serde_json::Value = serde_json::from_slice(&text).unwrap();
    assert_eq!(record["exit_code"], 2, "{record}");
    assert_eq!(record["output_bytes"], 6, "{record}");
    assert_eq!((&record["stdout_lines"], &record["stderr_lines"]), (&2.into(), &1.into()), "{record}");
    assert!(record["duration_seconds"].as_f64().is_some_and(|took| took < 60.0), "{record}");
    assert!(record["completed_at"].as_str().unwrap().ends_with('Z'), "{record}");
    assert!(record["summary"].is_string(), "{record}");
}

#[test]
fn the_log_path_is_a_file_with_the_output_so_far() {
    let home = home();
    let answer = home.mw(["start", "--json", &children::gated("go", 0)]).exits(0).json();
    let path = answer["output_path"].as_str().unwrap();
    wait_until(mw_testkit::SOON, "the log has the line", || {
        (fs::read_to_string(path).ok()? == "waiting\n").then_some(())
    });
}

#[test]
fn a_home_with_a_long_path_works() {
    let home = Home::with_long_path(env!("CARGO_BIN_EXE_mw"), 300);
    assert!(home.state().as_os_str().len() > 300);
    let id = home.start_with(&["--stdin"], "read x; echo got $x; exec sleep 600");
    let _ = home.mw(["input", &id, "word"]).ok();
    home.until_logged(&id, "got word");
    let receipt = home.mw(["kill", "--json", &id]).exits(0).json();
    assert_eq!(receipt["status"], "cancelled", "{receipt}");
    home.wait_until_empty(mw_testkit::SOON);
}

#[test]
fn without_a_home_setting_the_users_state_directory_is_used() {
    let home = home();
    let _ = home.command(["start", "--json", "true"]).without("MEANWHILE_HOME").run().ok();
    assert!(home.user().join(".local/state/meanwhile/tasks").is_dir());
}

#[test]
fn the_xdg_state_directory_takes_precedence() {
    let home = home();
    let state = home.work().join("xdg");
    let _ = home
        .command(["start", "--json", "true"])
        .without("MEANWHILE_HOME")
        .env("XDG_STATE_HOME", &state)
        .run()
        .ok();
    assert!(state.join("meanwhile/tasks").is_dir());
    assert!(!home.user().join(".local").exists());
}

#[test]
fn a_finished_task_leaves_no_pipes_or_sockets() {
    use std::os::unix::fs::FileTypeExt;

    let home = home();
    let id = home.start("exit 0");
    home.ended(&id);
    home.wait_until_empty(mw_testkit::SOON);
    for entry in fs::read_dir(home.task_dir(&id)).unwrap() {
        let entry = entry.unwrap();
        let kind = entry.file_type().unwrap();
        assert!(!kind.is_fifo() && !kind.is_socket(), "{:?} is left", entry.file_name());
    }
}
