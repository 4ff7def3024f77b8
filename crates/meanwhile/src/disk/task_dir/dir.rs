//! The directory itself: its paths, and writing to it without following links.

use std::fs::File;
use std::io;
use std::ops::Deref;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use mw_model::TaskId;
use mw_model::wire::{LOG_FILE, RUNS_DIR};
use rustix::fs::OFlags;

use crate::disk::replace_file::{open_directory, open_file, replace_file};
use crate::error::{Error, Result};

/// A task's directory, which need not exist.
#[derive(Clone, Debug)]
pub struct TaskDir<'id> {
    pub(super) id: &'id TaskId,
    pub(super) path: PathBuf,
}

impl Deref for TaskDir<'_> {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.path
    }
}

impl<'id> TaskDir<'id> {
    pub(crate) fn new(tasks: &Path, id: &'id TaskId) -> Self {
        Self { id, path: tasks.join(id.as_str()) }
    }

    /// Returns the log of the current or last run.
    #[must_use]
    pub fn log(&self) -> PathBuf {
        self.path.join(LOG_FILE)
    }

    /// Returns the directory with the files of an earlier run.
    #[must_use]
    pub fn earlier_run(&self, run: u32) -> PathBuf {
        self.path.join(RUNS_DIR).join(run.to_string())
    }

    /// Opens a task's directory. A link is refused.
    pub(crate) fn open(&self) -> io::Result<OwnedFd> {
        open_directory(&self.path)
    }

    /// Opens a file in a task's directory for writing, and creates it if it does not exist.
    pub(crate) fn open_file(&self, name: &str, how: OFlags) -> io::Result<File> {
        open_file(&self.open()?, name, how)
    }

    /// Replaces a file in a task's directory atomically.
    pub(crate) fn replace(&self, name: &str, text: &[u8]) -> io::Result<()> {
        replace_file(&self.open()?, name, text)
    }

    /// Opens a task's directory.
    pub(crate) fn open_as_file(&self) -> Result<File> {
        self.open().map(File::from).map_err(Error::io("cannot open the task directory"))
    }
}
