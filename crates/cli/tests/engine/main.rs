//! Black-box tests of the engine through the `mw` command, one module per group of commands.
//!
//! Each test has a separate home, waits for conditions with deadlines, and uses only
//! `docs/cli.md`, the JSON contract and the files of a task's directory.
#![forbid(unsafe_code)]
#![expect(clippy::unwrap_used, reason = "helpers run in tests only, where a broken assumption ends the test")]

mod answers;
mod approval;
mod approval_history;
mod bad_ids;
mod bad_input;
mod bad_places;
mod bad_settings;
mod cap;
mod cgroup;
mod clear_everything;
mod completions;
mod config_set;
mod confined;
mod cursors;
mod direct;
mod docs;
mod doctor;
mod environment;
mod files;
mod first_mistakes;
mod follow;
mod follow_survivor;
mod foreign;
mod fresh;
mod gate_actions;
mod gate_inside;
mod handles;
mod hang_up;
mod hook_before;
mod hooks;
mod host_hooks;
mod input_pty;
mod kill;
mod kill_hard;
mod kill_many;
mod kill_signals;
mod limits;
mod limits_inherited;
mod list_status;
mod log_header;
mod names;
mod nested;
mod notices;
mod otlp;
mod otlp_receiver;
mod output;
mod output_limits;
mod parallel;
mod pauses;
mod places;
mod policy;
mod ports;
mod progress;
mod queue;
mod queue_after;
mod queue_control;
mod queue_limits;
mod queue_total;
mod readers;
mod ready;
mod ready_port;
mod reassign;
mod redact;
mod resources;
mod resources_crash;
mod restart_clear;
mod retention;
mod run;
mod run_input;
mod run_queue;
mod run_terminal;
mod schedule;
mod services;
mod services_logs;
mod session_ends;
mod sessions;
mod settings;
mod settings_files;
mod settings_profile;
mod settings_project;
mod settings_refused;
mod settings_tools;
mod settle_turn;
mod setup;
mod setup_files;
mod setup_systemd;
mod spawn;
mod start;
mod surfaces;
mod survivors;
mod template;
mod terminal;
mod top;
mod top_bursts;
mod top_list;
mod top_many;
mod top_marks;
mod top_stuck;
mod top_terminal;
mod top_theme;
mod traces;
mod wait;
mod wait_notify;
mod wait_pending;
mod waiting_for;
mod watch_config;
mod watch_start;
mod words;

use mw_testkit::Home;

/// Returns a sealed home for the `mw` under test.
fn home() -> Home {
    Home::new(env!("CARGO_BIN_EXE_mw"))
}
