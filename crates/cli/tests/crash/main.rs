//! Tests that kill processes, damage files and fill disks, and then check that one further command
//! restores a consistent state.
#![forbid(unsafe_code)]
#![expect(clippy::unwrap_used, reason = "helpers run in tests only, where a broken assumption ends the test")]

mod adoption;
mod arrivals;
mod client;
mod damaged_database;
mod disk;
mod due;
mod fail_points;
mod guarded;
mod heavy_output;
mod hosts;
mod log_header;
mod logs;
mod looks;
mod lost_log;
mod nested;
mod notices;
mod pending;
mod progress;
mod ready;
mod reboot;
mod restart_lack;
mod resumed;
mod set_clock;
mod shortage;
mod slots;
mod slow_disk;
mod soak;
mod specs;
mod store;
mod strangers;
mod truth;
mod vanished;
mod watchers;

use mw_testkit::Home;

/// Returns a sealed home for the `mw` under test.
fn home() -> Home {
    Home::new(env!("CARGO_BIN_EXE_mw"))
}
