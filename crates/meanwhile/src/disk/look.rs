//! What a task's directory shows.
//!
//! Only a fact is a fact: absent is what the system says is not there. What cannot be looked at, because there is no
//! descriptor or memory left, no permission, or a disk that fails, is an error, and nothing may be concluded from it.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use mw_model::wire::{
    ExitRecord, JOURNAL_FILE, JournalLine, LOG_FILE, RESULT_FILE, RUNS_DIR, SPEC_FILE, TOLD_FILE,
    TOLD_NEWS_FILE,
};
use mw_model::{EnvVar, SPEC_VERSION, TaskId, TaskSpec};
use rustix::io::Errno;

use super::home::{CLEARED_FILE, Home, StartHold, ToldNews};
use crate::error::{Error, Result};

impl Home {
    /// Returns the ids of all task directories.
    pub(crate) fn task_ids(&self) -> Result<Vec<TaskId>> {
        let path = self.tasks();
        let Some(entries) = look(&path, fs::read_dir(&path))? else { return Ok(Vec::new()) };
        let mut ids = Vec::new();
        for entry in entries {
            let name = entry.map_err(unseen(&path))?.file_name();
            ids.extend(name.to_str().and_then(|name| name.parse::<TaskId>().ok()));
        }
        Ok(ids)
    }

    /// Tells whether somebody was killed while clearing a task.
    pub(crate) fn was_being_cleared(&self, id: &TaskId) -> Result<bool> {
        let path = self.task(id).join(CLEARED_FILE);
        Ok(look(&path, fs::symlink_metadata(&path))?.is_some())
    }

    /// Tells whether there is a directory for a task.
    pub(crate) fn has_task(&self, id: &TaskId) -> Result<bool> {
        let path = self.task(id);
        Ok(look(&path, fs::metadata(&path))?.is_some_and(|found| found.is_dir()))
    }

    /// Holds a task that waits while it is being started; nothing when somebody does already.
    pub(crate) fn try_hold_start(&self, id: &TaskId) -> Result<Option<StartHold>> {
        let path = self.task(id);
        let Some(directory) = open(&path)? else { return Ok(None) };
        Ok(try_lock(&path, &directory)?.then_some(StartHold { directory }))
    }

    /// Holds a task that nobody supervises while it gets a new supervisor; waits for another who does the same,
    /// but not for ever.
    pub(crate) fn hold_adoption(&self, id: &TaskId) -> Result<Option<File>> {
        const PATIENCE: Duration = Duration::from_secs(2);
        let path = self.task(id).join(SPEC_FILE);
        let Some(spec) = open(&path)? else { return Ok(None) };
        let deadline = Instant::now() + PATIENCE;
        while !try_lock(&path, &spec)? {
            if Instant::now() > deadline {
                return Ok(None);
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(Some(spec))
    }

    /// Tells whether somebody is just starting this task.
    pub(crate) fn is_being_started(&self, id: &TaskId) -> Result<bool> {
        is_locked(&self.task(id))
    }

    /// Tells whether a supervisor of this task lives: it holds a lock.
    pub(crate) fn is_supervised(&self, id: &TaskId) -> Result<bool> {
        is_locked(&self.task(id).join(JOURNAL_FILE))
    }

    /// Tells whether a task was written down. A starter may be killed between making the file and writing it.
    pub(crate) fn has_spec(&self, id: &TaskId) -> Result<bool> {
        has_text(&self.task(id).join(SPEC_FILE))
    }

    /// Tells whether there are traces of a run, whatever became of the spec.
    pub(crate) fn was_begun(&self, id: &TaskId) -> Result<bool> {
        for name in [JOURNAL_FILE, LOG_FILE, RESULT_FILE, RUNS_DIR] {
            if has_text(&self.task(id).join(name))? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Reads what a task was asked to be.
    ///
    /// # Errors
    /// When `spec.json` is missing, corrupt or of a newer version, which is damage, or when it cannot be read now.
    pub fn spec(&self, id: &TaskId) -> Result<TaskSpec> {
        let damaged = |message: String| Error::Damaged { id: id.to_string(), message };
        let path = self.task(id).join(SPEC_FILE);
        let text = match fs::read(&path) {
            Ok(text) => text,
            Err(error) if is_no_file(&error) => {
                return Err(damaged(format!("cannot read spec.json: {error}")));
            }
            Err(error) => return Err(unseen(&path)(error)),
        };
        let version = serde_json::from_slice::<serde_json::Value>(&text)
            .ok()
            .and_then(|value| value.get("version")?.as_u64());
        if version.is_some_and(|version| version > u64::from(SPEC_VERSION)) {
            return Err(damaged(format!(
                "spec.json has version {}, this build reads up to {SPEC_VERSION}",
                version.unwrap_or(0)
            )));
        }
        let spec: TaskSpec = serde_json::from_slice(&text)
            .map_err(|error| damaged(format!("spec.json is corrupt: {error}")))?;
        if spec.id == *id { Ok(spec) } else { Err(damaged(format!("spec.json belongs to {}", spec.id))) }
    }

    /// Reads a task's environment and nothing else of its spec; nothing when it cannot be read.
    pub(crate) fn environment(&self, id: &TaskId) -> Option<Vec<EnvVar>> {
        #[derive(serde::Deserialize)]
        struct Environment {
            env: Vec<EnvVar>,
        }
        let text = fs::read(self.task(id).join(SPEC_FILE)).ok()?;
        serde_json::from_slice(&text).ok().map(|spec: Environment| spec.env)
    }

    /// Reads the exit record of a run, if there is one.
    pub(crate) fn result(&self, id: &TaskId, run: u32) -> Result<Option<ExitRecord>> {
        read_result(&self.task(id), run)
    }

    /// Reads the exit record of a run that others came after.
    pub(crate) fn earlier_result(&self, id: &TaskId, run: u32) -> Result<Option<ExitRecord>> {
        read_result(&self.earlier_run(id, run), run)
    }

    /// Returns the last run whose files were shelved, or were to be: the one after it is the present one. Zero when
    /// there is none.
    pub(crate) fn last_shelved(&self, id: &TaskId) -> Result<u32> {
        let path = self.task(id).join(RUNS_DIR);
        let Some(runs) = look(&path, fs::read_dir(&path))? else { return Ok(0) };
        let mut last = 0;
        for run in runs {
            let name = run.map_err(unseen(&path))?.file_name();
            last = last.max(name.to_str().and_then(|name| name.parse().ok()).unwrap_or(0));
        }
        Ok(last)
    }

    /// Returns the last run whose end the owner was told of.
    pub(crate) fn told(&self, id: &TaskId) -> Result<Option<u32>> {
        let text = read(&self.task(id).join(TOLD_FILE))?;
        Ok(text.and_then(|text| String::from_utf8(text).ok()?.parse().ok()))
    }

    /// Returns what else the owner was told of; a line that was not written whole says nothing.
    pub(crate) fn told_news(&self, id: &TaskId) -> Result<Vec<ToldNews>> {
        let text = read(&self.task(id).join(TOLD_NEWS_FILE))?.unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let lines = text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n'));
        let told = |line: &str| {
            let mut words = line.split(' ');
            let kind = words.next()?.to_owned();
            Some(ToldNews { kind, run: words.next()?.parse().ok()?, ordinal: words.next()?.parse().ok()? })
        };
        Ok(lines.filter_map(told).collect())
    }

    /// Reads the journal. A line that makes no sense, because its writer was killed or had no room for it, hides no
    /// other.
    pub(crate) fn journal(&self, id: &TaskId) -> Result<Vec<JournalLine>> {
        let text = read(&self.task(id).join(JOURNAL_FILE))?.unwrap_or_default();
        Ok(text.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect())
    }
}

fn read_result(directory: &Path, run: u32) -> Result<Option<ExitRecord>> {
    let text = read(&directory.join(RESULT_FILE))?;
    let record = text.and_then(|text| serde_json::from_slice::<ExitRecord>(&text).ok());
    Ok(record.filter(|record| record.run == run))
}

/// Names a look that failed.
fn unseen(path: &Path) -> impl FnOnce(io::Error) -> Error + use<> {
    Error::io(format!("cannot inspect {}", path.display()))
}

/// Tells whether an error says that there is nothing under this name.
pub(crate) fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// The same, or that there is something that can never be read as a file.
fn is_no_file(error: &io::Error) -> bool {
    let never = [Errno::ISDIR, Errno::LOOP];
    is_absent(error) || never.iter().any(|errno| error.raw_os_error() == Some(errno.raw_os_error()))
}

/// Tells what is there from what is not.
pub(crate) fn look<T>(path: &Path, looked: io::Result<T>) -> Result<Option<T>> {
    match looked {
        Ok(found) => Ok(Some(found)),
        Err(error) if is_absent(&error) => Ok(None),
        Err(error) => Err(unseen(path)(error)),
    }
}

fn open(path: &PathBuf) -> Result<Option<File>> {
    look(path, File::open(path))
}

/// Reads a file; nothing when there is none.
pub(crate) fn read(path: &Path) -> Result<Option<Vec<u8>>> {
    match fs::read(path) {
        Err(error) if is_no_file(&error) => Ok(None),
        looked => look(path, looked),
    }
}

/// Tells whether there is anything in a file.
pub(crate) fn has_text(path: &Path) -> Result<bool> {
    Ok(look(path, fs::metadata(path))?.is_some_and(|found| found.len() > 0))
}

fn try_lock(path: &Path, file: &File) -> Result<bool> {
    match file.try_lock() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(unseen(path)(error)),
    }
}

/// Tells whether somebody holds a lock on a file; nobody holds one that is not there.
fn is_locked(path: &PathBuf) -> Result<bool> {
    let Some(file) = open(path)? else { return Ok(false) };
    match file.try_lock_shared() {
        Ok(()) => {
            let _ = file.unlock();
            Ok(false)
        }
        Err(TryLockError::WouldBlock) => Ok(true),
        Err(TryLockError::Error(error)) => Err(unseen(path)(error)),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use mw_model::TaskKind;

    use super::*;

    /// A home with a task, and a look at one of its files that fails although something is there: it is a link that leads to
    /// itself, which even root cannot open.
    fn task_with(unreadable: &str) -> (tempfile::TempDir, Home, TaskId) {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::open(&dir.path().join("state")).unwrap();
        let id = TaskId::from_random(TaskKind::Shell, 7);
        drop(home.make_task(&id).unwrap());
        symlink(unreadable, home.task(&id).join(unreadable)).unwrap();
        (dir, home, id)
    }

    #[test]
    fn what_is_absent_is_a_fact() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::open(&dir.path().join("state")).unwrap();
        let id = TaskId::from_random(TaskKind::Shell, 7);
        assert!(!home.is_supervised(&id).unwrap() && !home.is_being_started(&id).unwrap());
        assert!(!home.has_spec(&id).unwrap() && !home.was_begun(&id).unwrap());
        assert!(home.result(&id, 1).unwrap().is_none() && home.journal(&id).unwrap().is_empty());
        assert!(home.told(&id).unwrap().is_none() && home.told_news(&id).unwrap().is_empty());
        assert!(home.try_hold_start(&id).unwrap().is_none() && home.hold_adoption(&id).unwrap().is_none());
        assert!(matches!(home.spec(&id), Err(Error::Damaged { .. })));
    }

    #[test]
    fn what_cannot_be_looked_at_is_no_fact() {
        let (_dir, home, id) = task_with(JOURNAL_FILE);
        assert!(home.is_supervised(&id).is_err() && home.was_begun(&id).is_err());
        let (_dir, home, id) = task_with(SPEC_FILE);
        assert!(home.has_spec(&id).is_err() && home.hold_adoption(&id).is_err());
    }
}
