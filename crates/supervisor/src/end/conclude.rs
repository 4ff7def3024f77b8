//! The last step of a supervisor: it releases its guardian, and executes `mw settle` if that is due.

use std::fs::{self, File, OpenOptions};
use std::os::fd::AsFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::SystemTime;

use mw_model::wire::{
    ARRIVALS_FILE, BELLS_DIR, SETTLE_TIMEOUT, SETTLING_FILE, StartMessage, UNSETTLED_FILE, WAITING_FILE,
};
use rustix::fs::FlockOperation;

use crate::boot::run::Run;
use crate::fail_point::fail_point;
use crate::files;
use crate::sys;
use crate::sys::{Board, Phase};

/// The home, relative to a task's directory.
const HOME: &str = "../..";

/// The last step: releases the guardian and executes `mw settle` if that is due.
pub(crate) fn conclude(run: Run) {
    let board: Board = run.board;
    board.set_phase(Phase::Settling);
    fail_point("supervisor-settling");
    run.remove_cgroup();
    files::remove_endpoints(&run.message);
    run.files.log.tidy();
    run.wake_guardian();
    if let Some(turn) = settler(&run.message, || is_settling_due() || is_much_unsettled()) {
        let _ = sys::execute_last(&run.message.settle, turn.lock.as_ref().map(AsFd::as_fd));
    }
    // The process ends now, which closes everything at once.
    std::mem::forget(run);
}

/// Returns whether tasks are queued or processes wait for events. Otherwise the next client does the work of `mw
/// settle`.
pub(crate) fn is_settling_due() -> bool {
    let home = Path::new(HOME);
    home.join(WAITING_FILE).exists()
        || fs::read_dir(home.join(BELLS_DIR)).is_ok_and(|mut bells| bells.next().is_some())
}

/// Returns whether so many tasks are not in the database yet that they should be indexed now.
fn is_much_unsettled() -> bool {
    /// About two hundred tasks.
    const MANY: u64 = 4096;
    fs::metadata(Path::new(HOME).join(ARRIVALS_FILE)).is_ok_and(|found| found.len() >= MANY)
}

/// Permission to execute `mw settle`.
pub(crate) struct Settler {
    /// The lock of the turn to settle, which `mw settle` gets as its standard input, so that no other process takes it meanwhile.
    /// Absent if that process has other duties, or works beside another.
    pub(crate) lock: Option<File>,
}

/// Decides whether to execute `mw settle`. If another process settles, a mark is left for it: it looks once more before it
/// exits.
pub(crate) fn settler(message: &StartMessage, is_due: impl FnOnce() -> bool) -> Option<Settler> {
    if message.always_settle { Some(Settler { lock: None }) } else { is_due().then(take_turn).flatten() }
}

/// Takes the turn, or leaves a mark. `disk/settle_turn.rs` of the library has the other side.
fn take_turn() -> Option<Settler> {
    let create = |name: &str| {
        OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(Path::new(HOME).join(name))
    };
    let beside = Some(Settler { lock: None });
    let Ok(lock) = create(SETTLING_FILE) else { return beside };
    let leave_mark = || create(UNSETTLED_FILE).and_then(|mark| mark.set_len(1));
    let is_free = || rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive).is_ok();
    let begun = || lock.metadata().ok()?.modified().ok();
    if !is_free() {
        // A time in the future says nothing: the clock was set back.
        let is_overdue =
            begun().is_some_and(|begun| begun.elapsed().map_or(true, |time| time > SETTLE_TIMEOUT));
        if is_overdue || leave_mark().is_err() {
            return beside;
        }
        // Its owner may have looked for marks before this one was left.
        if !is_free() {
            return None;
        }
    }
    // Before other processes find the time of an earlier turn.
    let _ = lock.set_modified(SystemTime::now());
    fail_point("supervisor-has-turn");
    Some(Settler { lock: Some(lock) })
}
