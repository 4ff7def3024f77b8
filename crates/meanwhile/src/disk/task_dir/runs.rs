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

use std::fs;
use std::io::{self, Write};
use std::os::fd::OwnedFd;

use mw_model::TaskState;
use mw_model::wire::{FOLLOW_UPS_DIR, INDEX_FILE, LOG_FILE, RESULT_FILE, RUNS_DIR};
use rustix::fs::{AtFlags, Mode, OFlags, mkdirat, openat, renameat, statat, unlinkat};
use rustix::io::Errno;

use super::TaskDir;
use super::dir::open_file;
use crate::disk::look::{look, read, unseen};
use crate::error::{Error, Result};
use crate::fail_point::fail_point;
use crate::task::Task;

/// Lies on a shelf for as long as files are to be moved there.
const MOVING: &str = "moving";

impl TaskDir<'_> {
    /// Makes what shelving a run needs, while the change that makes it necessary can still be refused for lack of room.
    pub(crate) fn prepare_shelf(&self, run: u32) -> Result<()> {
        let prepared = self.open().and_then(|task| prepare(&directory_in(&task, RUNS_DIR)?, run));
        prepared.map_err(Error::io(format!(
            "cannot create {} for the files of run {run}",
            self.earlier_run(run).display()
        )))
    }

    /// Moves the files of the run before the one that waits out of its way; nothing is left to do for any other task.
    /// To be called inside a transaction. Doing it again changes nothing.
    pub(crate) fn shelve_before(&self, task: &Task) -> io::Result<()> {
        match &task.state {
            TaskState::Pending { run, .. } if *run > 1 => self.shelve(run - 1),
            TaskState::Pending { .. }
            | TaskState::Starting { .. }
            | TaskState::Running { .. }
            | TaskState::Cancelling { .. }
            | TaskState::Ended { .. } => Ok(()),
        }
    }

    fn shelve(&self, run: u32) -> io::Result<()> {
        let task = self.open()?;
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

    /// Returns the last run whose files were shelved, or were to be: the one after it is the present one. Zero when
    /// there is none.
    pub(crate) fn last_shelved(&self) -> Result<u32> {
        let path = self.path.join(RUNS_DIR);
        let Some(runs) = look(&path, fs::read_dir(&path))? else { return Ok(0) };
        let mut last = 0;
        for run in runs {
            let name = run.map_err(unseen(&path))?.file_name();
            last = last.max(name.to_str().and_then(|name| name.parse().ok()).unwrap_or(0));
        }
        Ok(last)
    }

    /// Writes the message that makes a run, or takes one away that came to nothing.
    pub(crate) fn set_follow_up(&self, run: u32, message: Option<&str>) -> io::Result<()> {
        let name = run.to_string();
        let task = self.open()?;
        match message {
            Some(message) => {
                let follow_ups = directory_in(&task, FOLLOW_UPS_DIR)?;
                open_file(&follow_ups, &name, OFlags::TRUNC)?.write_all(message.as_bytes())
            }
            None => match open_directory(&task, FOLLOW_UPS_DIR) {
                Ok(follow_ups) => match unlinkat(&follow_ups, name, AtFlags::empty()) {
                    Ok(()) | Err(Errno::NOENT) => Ok(()),
                    Err(error) => Err(error.into()),
                },
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
                Err(error) => Err(error),
            },
        }
    }

    /// Returns the message that made a run, if one did.
    pub(crate) fn follow_up(&self, run: u32) -> Result<Option<String>> {
        let text = read(&self.path.join(FOLLOW_UPS_DIR).join(run.to_string()))?;
        Ok(text.and_then(|text| String::from_utf8(text).ok()))
    }

    /// Counts the messages that made runs up to this one.
    pub(crate) fn follow_ups(&self, run: u32) -> Result<u32> {
        (2..=run).try_fold(0, |count, run| Ok(count + u32::from(self.follow_up(run)?.is_some())))
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
