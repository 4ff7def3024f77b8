//! Which directories are tasks of ours. A link, or somebody else's directory under a task's name, is named and left
//! alone: nothing is changed or removed through it.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use mw_model::TaskId;
use mw_model::wire::{
    FOLLOW_UPS_DIR, JOURNAL_FILE, LOG_FILE, RESULT_FILE, RUNS_DIR, SPEC_FILE, TOLD_FILE, TOLD_NEWS_FILE,
};
use rustix::fs::{AtFlags, CWD, Dir, Mode, OFlags, openat, renameat, unlinkat};
use rustix::io::Errno;

use super::home::{CLEARED_FILE, Home};
use super::look::look;
use super::shelf::{directory_in, open_directory};
use crate::error::{Error, ForeignEntry, Result};

impl Home {
    /// Refuses something that has the path of a task's directory and is not a task. Nothing there is not refused.
    pub(crate) fn refuse_foreign(&self, id: &TaskId) -> Result<()> {
        let path = self.task(id);
        let Some(found) = look(&path, fs::symlink_metadata(&path))? else { return Ok(()) };
        let what = if found.is_symlink() {
            ForeignEntry::Link { target: fs::read_link(&path).unwrap_or_default() }
        } else if !found.is_dir() {
            ForeignEntry::NotADirectory
        } else if found.uid() != rustix::process::geteuid().as_raw() {
            ForeignEntry::OtherUser
        // Emptiness first: a starter may write its first file, which is a mark, between the two looks.
        } else if is_empty(&path)? || self.is_marked(id)? {
            return Ok(());
        } else {
            ForeignEntry::Unmarked
        };
        Err(Error::Foreign { id: id.to_string(), path, what })
    }

    /// Tells whether a directory has a file that only a task's has, whatever became of its content.
    fn is_marked(&self, id: &TaskId) -> Result<bool> {
        for name in [SPEC_FILE, CLEARED_FILE, JOURNAL_FILE, LOG_FILE, RESULT_FILE, RUNS_DIR] {
            let path = self.task(id).join(name);
            if look(&path, fs::symlink_metadata(&path))?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Opens a task's directory itself, never what a link leads to.
    pub(crate) fn task_dir(&self, id: &TaskId) -> io::Result<OwnedFd> {
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::RDONLY | OFlags::CLOEXEC;
        Ok(openat(CWD, self.task(id), flags, Mode::empty())?)
    }

    /// Opens a file in a task's directory for writing, making it where it is absent.
    pub(crate) fn open_in_task(&self, id: &TaskId, name: &str, how: OFlags) -> io::Result<fs::File> {
        open_file(&self.task_dir(id)?, name, how)
    }

    /// Replaces a file in a task's directory whole.
    pub(crate) fn replace(&self, id: &TaskId, name: &str, text: &[u8]) -> io::Result<()> {
        let beside = format!(".{name}.{}", std::process::id());
        let task = self.task_dir(id)?;
        open_file(&task, &beside, OFlags::TRUNC)?.write_all(text)?;
        Ok(renameat(&task, beside, &task, name)?)
    }

    /// Removes a task's directory.
    ///
    /// # Errors
    /// When something is left of it, or when it is not a task's.
    pub(crate) fn try_remove_task(&self, id: &TaskId) -> Result<()> {
        self.refuse_foreign(id)?;
        match fs::remove_dir_all(self.task(id)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(Error::io(format!("cannot remove {}", self.task(id).display()))(error))
            }
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// The same, for what is swept again if it stays.
    pub(crate) fn remove_task(&self, id: &TaskId) {
        let _ = self.try_remove_task(id);
    }

    /// Removes all of a task but what says how it ended, and who knows.
    pub(crate) fn remove_output(&self, id: &TaskId) -> io::Result<()> {
        const KEPT: [&str; 6] =
            [SPEC_FILE, CLEARED_FILE, RESULT_FILE, JOURNAL_FILE, TOLD_FILE, TOLD_NEWS_FILE];
        let directory = match self.task_dir(id) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            other => other?,
        };
        for entry in Dir::read_from(&directory)? {
            let entry = entry?;
            let name = entry.file_name();
            let is_kept = |kept: &&str| name.to_bytes() == kept.as_bytes();
            if [".", ".."].iter().chain(&KEPT).any(is_kept) {
                continue;
            }
            match unlinkat(&directory, name, AtFlags::empty()) {
                Ok(()) | Err(Errno::NOENT) => {}
                // What this says of a directory differs from system to system.
                Err(Errno::ISDIR | Errno::PERM) => {
                    fs::remove_dir_all(self.task(id).join(OsStr::from_bytes(name.to_bytes())))?;
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Notes that a task is being cleared, which needs no room: what is left of it is no task any more once the
    /// database has forgotten it.
    pub(crate) fn begin_clearing(&self, id: &TaskId) {
        let _ = self.task_dir(id).map(|task| renameat(&task, SPEC_FILE, &task, CLEARED_FILE));
    }

    /// It was not forgotten after all.
    pub(crate) fn leave_clearing(&self, id: &TaskId) {
        let _ = self.task_dir(id).map(|task| renameat(&task, CLEARED_FILE, &task, SPEC_FILE));
    }

    /// Writes the message that makes a run, or takes one away that came to nothing.
    pub(crate) fn set_follow_up(&self, id: &TaskId, run: u32, message: Option<&str>) -> io::Result<()> {
        let name = run.to_string();
        let task = self.task_dir(id)?;
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
}

fn open_file(directory: &OwnedFd, name: &str, how: OFlags) -> io::Result<fs::File> {
    let flags = how | OFlags::CREATE | OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(openat(directory, name, flags, Mode::RUSR | Mode::WUSR)?.into())
}

fn is_empty(path: &Path) -> Result<bool> {
    Ok(look(path, fs::read_dir(path))?.is_none_or(|mut entries| entries.next().is_none()))
}
