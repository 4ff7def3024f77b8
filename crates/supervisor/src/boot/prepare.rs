//! What a guardian prepares while its starter still writes the task to disk and the start message.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use super::bootstrap::{Address, Purpose, StartRefusal};
use super::descriptors::{MANY, ensure_spare};
use crate::clock;
use crate::end::record;
use crate::fail_point::fail_point;
use crate::files::{self, Pipes, Prepared};
use crate::spawn::cgroup;
use crate::sys::{self, Board, ChildEvents};

/// How long to wait for the lock of an earlier run whose supervisors are still exiting.
const LOCK_TIMEOUT_MS: u64 = 5000;

/// What needs neither the task's directory nor the start message.
pub(super) struct Early {
    pub(super) board: Board,
    pub(super) events: ChildEvents,
    /// The pipes of a new run.
    pub(super) pipes: Option<Pipes>,
    /// The directory for the control group.
    group: Option<PathBuf>,
    pub(super) boot_id: String,
}

/// Everything that does not need the start message.
pub(super) struct Ready {
    pub(super) board: Board,
    pub(super) files: Prepared,
    pub(super) events: ChildEvents,
    pub(super) group: Option<PathBuf>,
    pub(super) boot_id: String,
}

/// Prepares what can be prepared before the task has a directory.
#[inline(never)]
pub(super) fn early(purpose: Purpose) -> Result<Early, StartRefusal> {
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o077));
    sys::become_subreaper();
    sys::reset_signals();
    let board = Board::new().map_err(|error| StartRefusal::system("shared page", &error))?;
    let events = ChildEvents::new().map_err(|error| StartRefusal::system("signals", &error))?;
    // A supervisor that was started inside a task must not end with that task's group.
    let group = cgroup::base_group();
    let (pipes, group) = match purpose {
        Purpose::Spawn => {
            (Some(Pipes::new().map_err(|error| StartRefusal::system("output pipes", &error))?), group)
        }
        Purpose::Adopt => (None, None),
    };
    let boot_id = sys::boot_id().map_err(|error| StartRefusal::system("identity of this boot", &error))?;
    Ok(Early { board, events, pipes, group, boot_id })
}

/// Locks the task's journal and creates or opens its files.
#[inline(never)]
pub(super) fn in_directory(
    address: &Address,
    directory: &OwnedFd,
    early: Early,
) -> Result<Ready, StartRefusal> {
    let Early { board, events, pipes, group, boot_id } = early;
    rustix::process::fchdir(directory)
        .map_err(|error| StartRefusal::system("task directory", &error.into()))?;
    let journal = take_lock()?;
    if address.purpose == Purpose::Spawn {
        let already_ran =
            already_ran(address.run).map_err(|error| StartRefusal::system("earlier record", &error))?;
        if already_ran {
            return Err(StartRefusal::busy("this run has already been started"));
        }
    }
    fail_point("supervisor-locked");
    let files = match pipes {
        Some(pipes) => Prepared::for_spawn(journal, board, pipes),
        None => {
            // An adopter without spare descriptors could neither answer nor search for processes.
            ensure_spare(&journal, MANY).map_err(|error| StartRefusal::system("adopter", &error))?;
            Prepared::for_adoption(journal, board)
        }
    };
    let files = files.map_err(|error| StartRefusal::system("task files", &error))?;
    Ok(Ready { board, files, events, group, boot_id })
}

/// Returns whether this run was executed before: a command is executed once per run, even if two processes start it.
fn already_ran(run: u32) -> io::Result<bool> {
    Ok(record::read_result(run)?.is_some() || !record::read_journal(run)?.is_empty())
}

fn take_lock() -> Result<File, StartRefusal> {
    let deadline = clock::monotonic_ms() + LOCK_TIMEOUT_MS;
    loop {
        match files::lock_journal().map_err(|error| StartRefusal::system("journal", &error))? {
            Some(journal) => return Ok(journal),
            None if clock::monotonic_ms() > deadline => {
                return Err(StartRefusal::busy("the task already has a supervisor"));
            }
            None => thread::sleep(Duration::from_millis(2)),
        }
    }
}
