//! `mw setup systemd`: unit files are shown, written after confirmation, and removed. A `systemctl` of the test notes how it is called.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use mw_testkit::{Home, Outcome};

use crate::home;
use crate::setup::{put, read};

const FILES: [&str; 2] = [".config/systemd/user/meanwhile.service", ".config/systemd/user/meanwhile.timer"];

/// Runs setup with a `systemctl` that notes its arguments and exits with a code.
fn setup(home: &Home, systemctl: u8, words: &[&str]) -> Outcome {
    let programs = home.work().join("programs");
    fs::create_dir_all(&programs).unwrap();
    let program = programs.join("systemctl");
    let calls = home.work().join("calls");
    let script =
        format!("#!/bin/sh\necho \"$*\" >> {}\necho 'no bus' >&2\nexit {systemctl}\n", calls.display());
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
    home.command([&["setup", "systemd"], words].concat()).env("PATH", path).run()
}

fn calls(home: &Home) -> Vec<String> {
    let text = fs::read_to_string(home.work().join("calls")).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

fn present(home: &Home) -> usize {
    FILES.iter().filter(|path| home.user().join(path).exists()).count()
}

#[test]
fn the_timer_is_shown_installed_and_removed() {
    let home = home();
    let shown = setup(&home, 0, &[]).exits(9);
    assert!(shown.text().contains("+OnStartupSec=5s"), "{shown}");
    assert_eq!((present(&home), calls(&home).len()), (0, 0), "nothing is done without confirmation");

    let done = setup(&home, 0, &["--yes", "--json"]).exits(0).json();
    assert_eq!((&done["host"], &done["status"]), (&"systemd".into(), &"set_up".into()), "{done}");
    let service = read(&home, FILES[0]);
    assert!(service.contains("queue\n") && service.contains("KillMode=process"), "{service}");
    assert!(service.contains(&format!("\"MEANWHILE_HOME={}\"", home.state().display())), "{service}");
    assert_eq!(calls(&home), ["--user daemon-reload", "--user enable --now meanwhile.timer"]);

    let again = setup(&home, 0, &["--yes", "--json"]).exits(0).json();
    assert_eq!(again["status"], "already_set_up", "{again}");
    let removed = setup(&home, 0, &["--remove", "--yes", "--json"]).exits(0).json();
    assert_eq!((&removed["status"], present(&home)), (&"removed".into(), 0), "{removed}");
    assert_eq!(calls(&home)[4..], ["--user disable --now meanwhile.timer", "--user daemon-reload"]);
    let again = setup(&home, 0, &["--remove", "--yes", "--json"]).exits(0).json();
    assert_eq!(again["status"], "not_set_up", "{again}");
}

#[test]
fn a_systemd_that_cannot_be_reached_is_reported_and_tried_again() {
    let home = home();
    let refusal = setup(&home, 1, &["--yes", "--json"]).refusal(1);
    assert_eq!(refusal["code"], "systemd", "{refusal}");
    assert!(refusal["message"].as_str().unwrap().contains("no bus"), "{refusal}");
    assert_eq!(present(&home), 2);
    let done = setup(&home, 0, &["--yes", "--json"]).exits(0).json();
    assert_eq!(done["status"], "already_set_up", "{done}");
    assert_eq!(calls(&home).last().unwrap(), "--user enable --now meanwhile.timer");
    let _ = setup(&home, 1, &["--remove", "--yes", "--json"]).refusal(1);
    assert_eq!(present(&home), 2, "a timer that runs keeps its files");
}

#[test]
fn files_of_others_and_other_requests_are_refused() {
    let home = home();
    let _ = setup(&home, 0, &["--project", "--yes", "--json"]).refusal(2);
    put(&home, FILES[0], "[Service]\nExecStart=mine\n");
    for words in [&["--yes", "--json"][..], &["--remove", "--yes", "--json"]] {
        let refusal = setup(&home, 0, words).refusal(6);
        assert!(refusal["message"].as_str().unwrap().contains("not written by mw"), "{refusal}");
    }
    assert_eq!(read(&home, FILES[0]), "[Service]\nExecStart=mine\n");
    assert!(calls(&home).is_empty());
}
