//! The files of earlier runs, in `runs/<run>/`, where the next run does not overwrite them.
//!
//! ```text
//! before the commit   runs/.1/moving          space is reserved; no meaning by itself
//! commit              the database: run 2 is queued
//! after the commit    runs/.1 → runs/1        the directory says so too: run 1 is over, run 2 is wanted
//!                     output.log, output.idx, result.json → runs/1/
//!                     runs/1/moving is removed: all of them have moved
//! ```
//!
//! Each step after the commit can be repeated, so a later process finishes an interrupted move: the process that
//! requested the run, a reader of the earlier run, or at the latest the process that launches the next run. All of
//! them do it inside a transaction in which the next run is queued. No process can launch it meanwhile, so the files
//! in the task's directory still belong to the earlier run.

use std::fs;
use std::io::{self, Write};
use std::os::fd::OwnedFd;

use mw_model::TaskState;
use mw_model::wire::{FOLLOW_UPS_DIR, INDEX_FILE, LOG_FILE, RESULT_FILE, RUNS_DIR};
use rustix::fs::{AtFlags, Mode, OFlags, mkdirat, openat, renameat, statat, unlinkat};
use rustix::io::Errno;

use super::TaskDir;
use crate::disk::optional_file::{cannot_inspect, look, present, read};
use crate::disk::replace_file::open_file;
use crate::error::{Error, Result};
use crate::fail_point::fail_point;
use crate::task::Task;

/// Exists in a run's directory while files are still to be moved there.
const MOVING: &str = "moving";

impl TaskDir<'_> {
    /// Creates the directory that archiving a run needs, while the change can still be refused on a full disk.
    pub(crate) fn prepare_archive(&self, run: u32) -> Result<()> {
        let prepared = self.open().and_then(|task| prepare(&directory_in(&task, RUNS_DIR)?, run));
        prepared.map_err(Error::io(format!(
            "cannot create {} for the files of run {run}",
            self.earlier_run(run).display()
        )))
    }

    /// Archives the files of the run before a queued one. Does nothing for any other task. Must be called inside a
    /// transaction. Doing it again changes nothing.
    pub(crate) fn archive_before(&self, task: &Task) -> io::Result<()> {
        match &task.state {
            TaskState::Pending { run, .. } if *run > 1 => self.archive(run - 1),
            _ => Ok(()),
        }
    }

    fn archive(&self, run: u32) -> io::Result<()> {
        let task = self.open()?;
        let runs = directory_in(&task, RUNS_DIR)?;
        let name = run.to_string();
        if !exists(&runs, &name)? {
            prepare(&runs, run)?;
            renameat(&runs, prepared_name(run), &runs, &name)?;
            fail_point("restart-archive-marked");
        }
        let archive = open_directory(&runs, &name)?;
        if !exists(&archive, MOVING)? {
            return Ok(());
        }
        for file in [LOG_FILE, INDEX_FILE, RESULT_FILE] {
            present(renameat(&task, file, &archive, file).map_err(io::Error::from))?;
            fail_point("restart-file-archived");
        }
        Ok(unlinkat(&archive, MOVING, AtFlags::empty())?)
    }

    /// Returns the last run whose files were archived, or were about to be. The next run is the current one. Returns
    /// 0 if there is none.
    pub(crate) fn last_archived(&self) -> Result<u32> {
        let path = self.path.join(RUNS_DIR);
        let Some(runs) = look(&path, fs::read_dir(&path))? else { return Ok(0) };
        let mut last = 0;
        for run in runs {
            let name = run.map_err(cannot_inspect(&path))?.file_name();
            last = last.max(name.to_str().and_then(|name| name.parse().ok()).unwrap_or(0));
        }
        Ok(last)
    }

    /// Writes the follow-up message of a run, or removes it if the run did not come about.
    pub(crate) fn set_follow_up(&self, run: u32, message: Option<&str>) -> io::Result<()> {
        let name = run.to_string();
        let task = self.open()?;
        match message {
            Some(message) => {
                let follow_ups = directory_in(&task, FOLLOW_UPS_DIR)?;
                open_file(&follow_ups, &name, OFlags::TRUNC)?.write_all(message.as_bytes())
            }
            None => {
                let Some(follow_ups) = present(open_directory(&task, FOLLOW_UPS_DIR))? else { return Ok(()) };
                let removed = unlinkat(&follow_ups, name, AtFlags::empty());
                present(removed.map_err(io::Error::from)).map(drop)
            }
        }
    }

    /// Returns the follow-up message of a run, if it has one.
    pub(crate) fn follow_up(&self, run: u32) -> Result<Option<String>> {
        let text = read(&self.path.join(FOLLOW_UPS_DIR).join(run.to_string()))?;
        Ok(text.and_then(|text| String::from_utf8(text).ok()))
    }

    /// Counts the follow-up messages up to this run.
    pub(crate) fn follow_ups(&self, run: u32) -> Result<u32> {
        (2..=run).try_fold(0, |count, run| Ok(count + u32::from(self.follow_up(run)?.is_some())))
    }
}

/// Returns the name of a run's directory before the commit.
fn prepared_name(run: u32) -> String {
    format!(".{run}")
}

fn prepare(runs: &OwnedFd, run: u32) -> io::Result<()> {
    let name = run.to_string();
    // A process of an earlier build may have been killed while it archived the same run.
    let archive = if exists(runs, &name)? {
        open_directory(runs, &name)?
    } else {
        directory_in(runs, &prepared_name(run))?
    };
    open_file(&archive, MOVING, OFlags::empty()).map(drop)
}

/// Opens a directory below another, and creates it if it does not exist. A link is refused.
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
    let found = statat(directory, name, AtFlags::SYMLINK_NOFOLLOW);
    Ok(present(found.map_err(io::Error::from))?.is_some())
}
