//! Directories that cannot be used.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use mw_testkit::{Home, need_root};

use crate::home;

#[track_caller]
fn refused_cwd(home: &Home, directory: &str) {
    let _ = home.mw(["start", "--json", "--cwd", directory, "true"]).refusal(2);
    assert_eq!(home.list().len(), 0, "a phantom task");
}

#[test]
fn a_directory_that_does_not_exist_is_refused() {
    refused_cwd(&home(), "no/such/directory");
}

#[test]
fn a_file_as_working_directory_is_refused() {
    let home = home();
    fs::write(home.work().join("file"), "").unwrap();
    refused_cwd(&home, "file");
}

#[test]
fn a_directory_without_permission_is_refused() {
    let home = Home::bound_by_modes(env!("CARGO_BIN_EXE_mw"));
    let closed = home.work().join("closed");
    fs::create_dir(&closed).unwrap();
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).unwrap();
    refused_cwd(&home, "closed");
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o700)).unwrap();
}

/// Checks that commands refuse this directory as a home.
#[track_caller]
fn refused_home(home: &Home, place: &std::path::Path) {
    for args in [&["start", "--json", "touch ran"][..], &["list", "--json"], &["kill", "--json", "--all"]] {
        let _ = home.command(args).env("MEANWHILE_HOME", place).run().refusal(7);
    }
    assert!(!home.has_file("ran"));
}

#[test]
fn a_home_that_cannot_be_created_is_refused() {
    let home = home();
    refused_home(&home, "/proc/no-home-here".as_ref());
}

#[test]
fn a_home_that_is_a_file_is_refused() {
    let home = home();
    let place = home.user().join("file");
    fs::write(&place, "mine").unwrap();
    refused_home(&home, &place);
    assert_eq!(fs::read(&place).unwrap(), b"mine");
}

#[test]
fn a_read_only_home_is_refused() {
    let home = Home::bound_by_modes(env!("CARGO_BIN_EXE_mw"));
    let place = home.user().join("closed");
    fs::create_dir(&place).unwrap();
    fs::set_permissions(&place, fs::Permissions::from_mode(0o500)).unwrap();
    refused_home(&home, &place);
    fs::set_permissions(&place, fs::Permissions::from_mode(0o700)).unwrap();
}

#[test]
fn a_home_of_another_user_is_refused() {
    need_root();
    let home = home();
    let place = home.user().join("theirs");
    fs::create_dir(&place).unwrap();
    std::os::unix::fs::chown(&place, Some(12_345), Some(12_345)).unwrap();
    refused_home(&home, &place);
    assert_eq!(fs::read_dir(&place).unwrap().count(), 0);
}

#[test]
fn a_file_that_is_not_a_database_is_reported_and_kept() {
    let home = home();
    fs::create_dir_all(home.state()).unwrap();
    fs::set_permissions(home.state(), fs::Permissions::from_mode(0o700)).unwrap();
    let garbage = b"this is no database, but somebody's letter ".repeat(200);
    fs::write(home.state().join("meanwhile.db"), &garbage).unwrap();
    let listed = home.mw(["list", "--json"]).exits(0);
    let said = listed.stderr_text();
    let kept = said.trim_end().rsplit(' ').next().unwrap();
    assert!(said.contains("the database was damaged") && fs::read(kept).unwrap() == garbage, "{listed}");
}

#[test]
fn a_removed_working_directory_is_reported() {
    let home = home();
    let place = home.work().join("gone");
    fs::create_dir(&place).unwrap();
    let outcome = home
        .program("/bin/sh")
        .cwd(&place)
        .arg("-c")
        .arg("rmdir ../gone; exec \"$0\" start --json true")
        .arg(env!("CARGO_BIN_EXE_mw"))
        .run();
    let error = outcome.refusal(2);
    assert!(error["message"].as_str().unwrap().contains("cannot use the current directory"), "{error}");
    assert_eq!(error["hint"], "give a directory with --cwd");
    assert_eq!(home.list().len(), 0);
}
