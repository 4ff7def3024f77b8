//! The clock of the machine is set while tasks are queued or run.

use std::fs;

use mw_testkit::{Home, children};

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
