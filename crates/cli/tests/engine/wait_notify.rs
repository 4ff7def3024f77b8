//! `mw wait --notify`: a notification on the desktop, or through the terminal.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use mw_testkit::{Home, SOON, children, need_program, wait_until};

use crate::home;
use crate::settings::both_ways;

/// Returns a path with this script as the desktop's program, which appends to the file `seen`.
fn with_desktop(home: &Home, script: &str) -> String {
    let bin = home.work().join("bin");
    fs::create_dir_all(&bin).unwrap();
    let program = bin.join("notify-send");
    fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
    format!("{}:/usr/bin:/bin", bin.display())
}

/// Returns a path without the desktop's program, with the one that starts a command on a terminal.
fn without_desktop(home: &Home) -> String {
    let bin = home.work().join("none");
    fs::create_dir_all(&bin).unwrap();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let setsid = std::env::split_paths(&path).map(|place| place.join("setsid")).find(|file| file.exists());
    std::os::unix::fs::symlink(setsid.unwrap(), bin.join("setsid")).unwrap();
    bin.display().to_string()
}

fn seen(home: &Home) -> String {
    fs::read_to_string(home.work().join("seen")).unwrap_or_default()
}

#[test]
fn the_end_of_a_wait_is_shown_on_the_desktop() {
    let home = home();
    let path = with_desktop(&home, &format!("echo \"$5\" >> {}/seen", home.work().display()));
    let home = home.with_env("PATH", path);
    let one = home.start_with(&["--name", "one", "--stdin"], "read -r line; exit 3");
    let wait = home.command(["wait", "one", "--notify"]).spawn();
    home.mw(["input", &one, "go"]).ok();
    let outcome = wait.wait().exits(3);
    assert_eq!(outcome.stderr_text(), "");
    assert_eq!(seen(&home), "one: failed (exited 3)\n");
    let two = home.start("true");
    let _ = home.mw(["wait", "one", &two, "--notify"]).exits(3);
    assert!(seen(&home).ends_with("2 tasks: 1 completed, 1 failed\n"), "{}", seen(&home));
    let web = home.start_with(&["--name", "web"], &format!("echo up; {}", children::SLEEPER));
    let _ = home.mw(["wait", &web, "--until", "match=up", "--notify"]).exits(0);
    assert!(seen(&home).ends_with("web: match=up\n"), "{}", seen(&home));
    let _ = home.mw(["wait", &web, "--timeout", "10ms", "--notify", "--json"]).exits(124);
    let last = seen(&home).lines().last().unwrap_or_default().to_owned();
    assert!(last.starts_with("timed out after ") && last.ends_with(": web did not end"), "{last}");
    home.mw(["kill", &web]).ok();
}

#[test]
fn without_a_desktop_the_terminal_shows_it_and_else_a_note_says_so() {
    need_program("setsid");
    let home = home();
    let id = home.start_with(&["--name", "one"], "true");
    home.ended(&id);
    let nowhere = without_desktop(&home);
    let failing = with_desktop(&home, "exit 1");
    for (path, why) in [(&nowhere, "notify-send is not installed"), (&failing, "notify-send failed")] {
        let quiet = home.command(["wait", "one", "--notify"]).env("PATH", path).run().exits(0);
        let note = format!("mw: no notification was shown: {why}, and standard error is no terminal\n");
        assert_eq!(quiet.stderr_text(), note);
        for (name, value, sequence) in [
            ("TMUX", "", "\u{1b}]9;meanwhile: one: completed\u{7}"),
            ("VTE_VERSION", "7600", "\u{1b}]777;notify;meanwhile;one: completed\u{1b}\\"),
            ("TMUX", "/tmp/tmux", "\u{1b}Ptmux;\u{1b}\u{1b}]9;meanwhile: one: completed\u{7}\u{1b}\\"),
        ] {
            let terminal = home.command(["wait", "one", "--notify"]).env("PATH", path).env(name, value);
            let terminal = terminal.on_terminal();
            wait_until(SOON, sequence, || terminal.shown().contains(sequence).then_some(()));
            assert_eq!(terminal.wait(), Some(0));
        }
    }
}

#[test]
fn wait_notify_after_takes_effect() {
    need_program("setsid");
    for home in both_ways("wait.notify_after", "1ms") {
        let path = without_desktop(&home);
        let id = home.start_with(&["--name", "one", "--stdin"], "read -r line");
        let mut terminal = home.command(["wait", "one"]).env("PATH", &path).on_terminal();
        // The line shows that it waits.
        wait_until(SOON, "the wait", || terminal.shown().contains("one").then_some(()));
        home.mw(["input", &id, "go"]).ok();
        let sequence = "\u{1b}]9;meanwhile: one: completed\u{7}";
        wait_until(SOON, "the notification", || terminal.shown().contains(sequence).then_some(()));
        assert_eq!(wait_until(SOON, "the end", || terminal.ended()), 0);
        // Nobody looks at a pipe.
        assert_eq!(home.command(["wait", "one"]).env("PATH", &path).run().exits(0).stderr_text(), "");
        let longer =
            home.command(["wait", "one"]).env("MEANWHILE_WAIT_NOTIFY_AFTER", "1h").env("PATH", &path);
        let longer = longer.on_terminal();
        wait_until(SOON, "the reply", || longer.shown().contains("completed").then_some(()));
        let shown = longer.shown();
        assert_eq!(longer.wait(), Some(0));
        assert!(!shown.contains("]9;"), "{shown}");
    }
}
