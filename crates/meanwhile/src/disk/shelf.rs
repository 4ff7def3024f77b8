//! Where the files of earlier runs go: `runs/<run>/`, out of the way of the next run.
//!
//! ```text
//! before the commit   runs/.1/moving          room is made; this means nothing by itself
//! commit              the database: run 2 waits
//! after the commit    runs/.1 → runs/1        the directory says it too: run 1 is over, run 2 is wanted
//!                     output.log, output.idx, result.json → runs/1/
//!                     runs/1/moving is removed: all of them have moved
//! ```
//!
//! Each step after the commit can be repeated, so whoever comes next finishes what was cut short: the process that asked
//! for the run, a reader of the earlier one, or the process that launches the next, at the latest. All of them do it
//! inside a transaction in which the next run waits; nobody can launch it meanwhile, so what lies in the task's
//! directory is still the earlier run's.

use std::io;
use std::os::fd::OwnedFd;

use mw_model::wire::{INDEX_FILE, LOG_FILE, RESULT_FILE, RUNS_DIR};
use mw_model::{TaskId, TaskState};
use rustix::fs::{AtFlags, Mode, OFlags, mkdirat, openat, renameat, statat, unlinkat};
use rustix::io::Errno;

use super::home::Home;
use crate::error::{Error, Result};
use crate::fail_point::fail_point;
use crate::task::Task;

/// Lies on a shelf for as long as files are to be moved there.
const MOVING: &str = "moving";

impl Home {
    /// Makes what shelving a run needs, while the change that makes it necessary can still be refused for lack of room.
    pub(crate) fn prepare_shelf(&self, id: &TaskId, run: u32) -> Result<()> {
        let prepared = self.task_dir(id).and_then(|task| prepare(&directory_in(&task, RUNS_DIR)?, run));
        prepared.map_err(Error::io(format!(
            "cannot create {} for the files of run {run}",
            self.earlier_run(id, run).display()
        )))
    }

    /// Moves the files of the run before the one that waits out of its way; nothing is left to do for any other task.
    /// To be called inside a transaction. Doing it again changes nothing.
    pub(crate) fn shelve_before(&self, task: &Task) -> io::Result<()> {
        match &task.state {
            TaskState::Pending { run, .. } if *run > 1 => self.shelve(&task.id, run - 1),
            TaskState::Pending { .. }
            | TaskState::Starting { .. }
            | TaskState::Running { .. }
            | TaskState::Cancelling { .. }
            | TaskState::Ended { .. } => Ok(()),
        }
    }

    fn shelve(&self, id: &TaskId, run: u32) -> io::Result<()> {
        let task = self.task_dir(id)?;
        let runs = directory_in(&task, RUNS_DIR)?;
        let name = run.to_string();
        if !exists(&runs, &name)? {
            prepare(&runs, run)?;
            renameat(&runs, prepared_name(run), &runs, &name)?;
            fail_point("restart-shelf-marked");
        }
        let shelf = open_directory(&runs, &name)?;
        if !exists(&shelf, MOVING)? {
            return Ok(());
        }
        for file in [LOG_FILE, INDEX_FILE, RESULT_FILE] {
            match renameat(&task, file, &shelf, file) {
                Ok(()) | Err(Errno::NOENT) => {}
                Err(error) => return Err(error.into()),
            }
            fail_point("restart-file-shelved");
        }
        Ok(unlinkat(&shelf, MOVING, AtFlags::empty())?)
    }
}

/// The name of a shelf that does not count yet.
fn prepared_name(run: u32) -> String {
    format!(".{run}")
}

fn prepare(runs: &OwnedFd, run: u32) -> io::Result<()> {
    let name = run.to_string();
    // An earlier build may have been killed over the same run.
    let shelf = if exists(runs, &name)? {
        open_directory(runs, &name)?
    } else {
        directory_in(runs, &prepared_name(run))?
    };
    let flags = OFlags::CREATE | OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(&shelf, MOVING, flags, Mode::RUSR | Mode::WUSR)?;
    Ok(())
}

/// Opens a directory below another, making it where it is absent. A link is refused.
pub(crate) fn directory_in(parent: &OwnedFd, name: &str) -> io::Result<OwnedFd> {
    match mkdirat(parent, name, Mode::RWXU) {
        Ok(()) | Err(Errno::EXIST) => open_directory(parent, name),
        Err(error) => Err(error.into()),
    }
}

/// Opens a directory below another. A link is refused.
pub(crate) fn open_directory(parent: &OwnedFd, name: &str) -> io::Result<OwnedFd> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::RDONLY | OFlags::CLOEXEC;
    Ok(openat(parent, name, flags, Mode::empty())?)
}

fn exists(directory: &OwnedFd, name: &str) -> io::Result<bool> {
    match statat(directory, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(_) => Ok(true),
        Err(Errno::NOENT) => Ok(false),
        Err(error) => Err(error.into()),
    }
}
