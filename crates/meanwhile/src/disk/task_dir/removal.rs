//! Recognises and removes task directories. A link, or a foreign directory with a task's name, is reported and left
//! alone. Nothing is changed or removed through it.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use mw_model::wire::{JOURNAL_FILE, LOG_FILE, RESULT_FILE, RUNS_DIR, SPEC_FILE, TOLD_FILE, TOLD_NEWS_FILE};
use rustix::fs::{AtFlags, Dir, renameat, unlinkat};
use rustix::io::Errno;

use super::TaskDir;
use crate::disk::optional_file::{look, present};
use crate::error::{Error, ForeignEntry, Result};

/// The spec of a task that is being removed.
pub(crate) const CLEARED_FILE: &str = "spec.cleared";

impl TaskDir<'_> {
    /// Refuses an entry that has the path of a task's directory but is not a task. An absent entry is accepted.
    pub(crate) fn refuse_foreign(&self) -> Result<()> {
        let path = &self.path;
        let Some(found) = look(path, fs::symlink_metadata(path))? else { return Ok(()) };
        let what = if found.is_symlink() {
            ForeignEntry::Link { target: fs::read_link(path).unwrap_or_default() }
        } else if !found.is_dir() {
            ForeignEntry::NotADirectory
        } else if found.uid() != rustix::process::geteuid().as_raw() {
            ForeignEntry::OtherUser
        // Check for emptiness first: a starter may write its first file, which is a mark, between the two checks.
        } else if is_empty(path)? || self.is_marked()? {
            return Ok(());
        } else {
            ForeignEntry::Unmarked
        };
        Err(Error::Foreign { id: self.id.clone(), path: path.clone(), what })
    }

    /// Returns whether a directory has a file that only task directories have, whatever its content.
    fn is_marked(&self) -> Result<bool> {
        for name in [SPEC_FILE, CLEARED_FILE, JOURNAL_FILE, LOG_FILE, RESULT_FILE, RUNS_DIR] {
            let path = self.path.join(name);
            if look(&path, fs::symlink_metadata(&path))?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Removes a task's directory.
    ///
    /// # Errors
    /// When something is left of it, or it is not a task's directory.
    pub(crate) fn try_remove(&self) -> Result<()> {
        self.refuse_foreign()?;
        let failed = Error::io(format!("cannot remove {}", self.path.display()));
        present(fs::remove_dir_all(&self.path)).map(drop).map_err(failed)
    }

    /// Removes a task's directory, best effort. A later sweep tries again.
    pub(crate) fn remove(&self) {
        let _ = self.try_remove();
    }

    /// Removes everything except the files that record how the task ended and which notifications were delivered.
    pub(crate) fn remove_output(&self) -> io::Result<()> {
        const KEPT: [&str; 6] =
            [SPEC_FILE, CLEARED_FILE, RESULT_FILE, JOURNAL_FILE, TOLD_FILE, TOLD_NEWS_FILE];
        let Some(directory) = present(self.open())? else { return Ok(()) };
        for entry in Dir::read_from(&directory)? {
            let entry = entry?;
            let name = entry.file_name();
            let is_kept = |kept: &&str| name.to_bytes() == kept.as_bytes();
            if [".", ".."].iter().chain(&KEPT).any(is_kept) {
                continue;
            }
            match unlinkat(&directory, name, AtFlags::empty()) {
                Ok(()) | Err(Errno::NOENT) => {}
                // The error for a directory differs between systems.
                Err(Errno::ISDIR | Errno::PERM) => {
                    fs::remove_dir_all(self.path.join(OsStr::from_bytes(name.to_bytes())))?;
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Returns whether a process was killed while it removed this task.
    pub(crate) fn was_being_cleared(&self) -> Result<bool> {
        let path = self.path.join(CLEARED_FILE);
        Ok(look(&path, fs::symlink_metadata(&path))?.is_some())
    }

    /// Marks a task as being removed. A rename needs no disk space. The rest of the directory is no longer a task
    /// once the database has deleted it.
    pub(crate) fn begin_clearing(&self) {
        let _ = self.open().map(|task| renameat(&task, SPEC_FILE, &task, CLEARED_FILE));
    }

    /// Takes the mark back, because the database did not delete the task.
    pub(crate) fn leave_clearing(&self) {
        let _ = self.open().map(|task| renameat(&task, CLEARED_FILE, &task, SPEC_FILE));
    }
}

fn is_empty(path: &Path) -> Result<bool> {
    Ok(look(path, fs::read_dir(path))?.is_none_or(|mut entries| entries.next().is_none()))
}
