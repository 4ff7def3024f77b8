//! The clock of the machine is set while tasks are queued or run.

use std::fs;

use mw_testkit::{Home, SOON, children, wait_until};

use crate::home;

const HOUR_MS: i64 = 3_600_000;

/// A home whose clock can be set.
fn clocked() -> Home {
    let home = home();
    let clock = home.work().join("clock");
    home.with_env("MEANWHILE_CLOCK", clock.to_str().unwrap())
}

/// Sets the clock to so many milliseconds after the true time.
fn set(home: &Home, ms: i64) {
    let (new, clock) = (home.work().join("clock.new"), home.work().join("clock"));
    fs::write(&new, ms.to_string()).and_then(|()| fs::rename(new, clock)).unwrap();
}

#[test]
fn a_queued_task_ends_with_its_host_after_the_clock_was_set_back() {
    let home =
        clocked().with_env("MEANWHILE_SESSION_GRACE_MS", "50").with_env("MEANWHILE_QUEUE_MAX_RUNNING", "1");
    set(&home, 24 * HOUR_MS);
    let host =
        home.command(["session", "run", "s", "--", "sh", "-c", "exec sleep 600 >/dev/null 2>&1"]).spawn();
    wait_until(SOON, "the host holds the session", || {
        let mut found = fs::read_dir(home.state().join("sessions/s")).ok()?.flatten();
        found.any(|entry| entry.file_name().to_string_lossy().starts_with("host-")).then_some(())
    });
    let start = |more: &[&str]| {
        let words = [&["start", "--json"][..], more, &[children::SLEEPER]].concat();
        let started = home.command(words).session("s").run().exits(0).json();
        started["id"].as_str().unwrap().to_owned()
    };
    start(&["--lifetime", "detached"]);
    let queued = start(&[]);
    assert_eq!(home.status(&queued)["status"], "pending");
    set(&home, 0);
    let _ = host.kill();
    assert_eq!(home.ended(&queued)["status"], "cancelled");
    let _ = home.mw(["kill", "--all"]).ok();
}

#[test]
fn an_adopter_counts_a_time_limit_from_the_start_after_the_clock_was_set() {
    let home = clocked();
    let id = home.start_with(&["--timeout", "10m"], &children::gated("go", 3));
    let _ = home.pid(&id);
    home.kill_supervisors(&id);
    set(&home, HOUR_MS);
    let _ = home.mw(["list"]).ok();
    home.open("go");
    let task = home.ended(&id);
    assert_ne!(task["status"], "timed_out", "{task}");
}
