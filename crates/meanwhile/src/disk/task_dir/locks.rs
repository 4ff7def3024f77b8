//! Locks on a task: its starter locks the directory, its supervisors lock the journal, and a process that sends a new
//! supervisor locks the spec.

use std::fs::File;
use std::path::Path;
use std::time::{Duration, Instant};

use mw_model::wire::{JOURNAL_FILE, SPEC_FILE};

use super::TaskDir;
use crate::disk::file_lock::{is_taken, within};
use crate::disk::optional_file::{cannot_inspect, look};
use crate::error::{Error, Result};

/// A task directory, locked by the process that starts the task.
pub(crate) struct StartHold {
    pub(crate) directory: File,
}

impl TaskDir<'_> {
    /// Locks the directory of a new task.
    pub(crate) fn hold_start(&self) -> std::io::Result<StartHold> {
        let directory = File::from(self.open()?);
        directory.lock()?;
        Ok(StartHold { directory })
    }

    /// Locks a queued task while it is being started; `None` if another process starts it already.
    pub(crate) fn try_hold_start(&self) -> Result<Option<StartHold>> {
        let path = &self.path;
        let Some(directory) = open(path)? else { return Ok(None) };
        Ok(try_lock(path, &directory)?.then_some(StartHold { directory }))
    }

    /// Locks an unsupervised task while it gets a new supervisor. Waits for another process that does the same, up to
    /// a limit.
    pub(crate) fn hold_adoption(&self) -> Result<Option<File>> {
        const TIMEOUT: Duration = Duration::from_secs(2);
        let path = self.path.join(SPEC_FILE);
        let Some(spec) = open(&path)? else { return Ok(None) };
        let is_held = within(TIMEOUT, Duration::from_millis(1), || try_lock(&path, &spec))?;
        Ok(is_held.then_some(spec))
    }

    /// Returns whether a process is starting this task.
    pub(crate) fn is_being_started(&self) -> Result<bool> {
        is_locked(&self.path)
    }

    /// Returns whether this task has a supervisor, which holds a lock.
    pub(crate) fn is_supervised(&self) -> Result<bool> {
        is_locked(&self.path.join(JOURNAL_FILE))
    }

    /// Waits until the supervisors of an ended task have exited. Calls `tell` if that takes long.
    pub(crate) fn await_unsupervised(&self, tell: fn(&str)) -> Result<()> {
        const LONGEST: Duration = Duration::from_secs(10);
        const NOTICEABLE: Duration = Duration::from_millis(800);
        let begun = Instant::now();
        let mut is_delivered = false;
        while self.is_supervised()? {
            if begun.elapsed() > LONGEST {
                return Err(Error::Unresponsive {
                    id: self.id.clone(),
                    message: format!(
                        "its supervisor is still running after {} s; it may be stopped",
                        LONGEST.as_secs()
                    ),
                });
            }
            if begun.elapsed() > NOTICEABLE && !is_delivered {
                is_delivered = true;
                tell(&format!(
                    "waiting up to {} s for the supervisor of {} to exit",
                    LONGEST.as_secs(),
                    self.id
                ));
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(())
    }
}

fn open(path: &Path) -> Result<Option<File>> {
    look(path, File::open(path))
}

fn try_lock(path: &Path, file: &File) -> Result<bool> {
    is_taken(file.try_lock()).map_err(cannot_inspect(path))
}

/// Returns whether a process holds a lock on a file; false if the file does not exist.
fn is_locked(path: &Path) -> Result<bool> {
    let Some(file) = open(path)? else { return Ok(false) };
    let is_free = is_taken(file.try_lock_shared()).map_err(cannot_inspect(path))?;
    if is_free {
        let _ = file.unlock();
    }
    Ok(!is_free)
}
