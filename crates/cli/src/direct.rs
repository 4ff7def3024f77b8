//! `mw`: the executable that people and agents call.
//!
//! It runs the common forms of the most frequent commands itself, with the part of the library that needs no database. For
//! everything else it becomes `mw-engine`, before it has changed anything. It prints no errors: what it cannot
//! do, the engine does again and reports.

use std::env;
use std::sync::Arc;

use meanwhile::engine::model::wire::WAITING_FILE;
use meanwhile::engine::model::{SESSION_VARIABLE, TASK_VARIABLE};
use meanwhile::engine::{Directories, SystemClock, home_directory};

use crate::config::Config;
use crate::entry::asks_for_json;
use crate::{commands, panics, programs};

/// Runs `mw`.
pub fn mw() -> i32 {
    panics::end_the_process();
    if let Ok(name) = env::var("MEANWHILE_FAIL_AT") {
        meanwhile::engine::arm_fail_point(&name);
    }
    if let Some(file) = env::var_os("MEANWHILE_CLOCK") {
        meanwhile::engine::shift_clock(file.into());
    }
    mw_supervisor::shorten_time_slice();
    let words: Vec<_> = mw_supervisor::arguments().collect();
    let done = commands::run_direct(&words).unwrap_or_else(|| Err(programs::become_engine()));
    let code = done.unwrap_or_else(|error| error.report(asks_for_json()));
    // `exit` flushes standard output.
    std::process::exit(code.into())
}

/// Variables that make a command act for a session or a task, or with another supervisor.
const SPECIAL: [&str; 4] = ["MEANWHILE_SESSION", "MEANWHILE_SUPERVISOR", SESSION_VARIABLE, TASK_VARIABLE];

/// Returns whether this command probably acts for the user, and no task is queued.
pub(crate) fn acts_for_user() -> bool {
    SPECIAL.iter().all(|name| env::var_os(name).is_none())
        && home_directory(None).is_some_and(|home| !home.join(WAITING_FILE).exists())
}

/// Opens the home for a command of the user; `None` if the engine must do it.
pub(crate) fn open() -> Option<Directories> {
    if !acts_for_user() {
        return None;
    }
    let config = Config::load_quietly()?;
    // Inside a task a command acts for the session of that task.
    let is_user = config.settings.home.is_dir() && !Directories::is_below_supervisor();
    is_user.then(|| Directories::open(config.settings, Arc::new(SystemClock)).ok()).flatten()
}
