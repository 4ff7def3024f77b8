//! What is kept for those who read: where each has come to, when a result was fetched, and names for logs.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt, symlink};
use std::path::{Path, PathBuf};

use mw_model::{TaskId, Timestamp, short_handle, task_log_name};

use crate::error::{Error, Result};
use crate::output::{StreamChoice, last_write_us};
use crate::runtime::Runtime;
use crate::task::Task;

/// Under this name the moment at which a result was fetched is kept as a place.
const RESULT: &str = "result";
/// The directory of a session that has the second names of its logs.
const LOGS: &str = "tasks";

impl Runtime {
    /// Moves a reader's place in a stream of a task's present run, as if all before it had been read.
    ///
    /// # Errors
    /// When the task is unknown or the database fails.
    pub fn move_cursor(&self, id: &TaskId, reader: &str, stream: StreamChoice, to: u64) -> Result<()> {
        let run = self.stored(id)?.state.run();
        Ok(self.store()?.set_cursor(reader, id, stream.word(), run, to)?)
    }

    /// Notes that the result of a task's present run was fetched; returns when that was first done.
    ///
    /// # Errors
    /// When the database fails.
    pub fn note_retrieved(&self, id: &TaskId) -> Result<Timestamp> {
        let run = self.stored(id)?.state.run();
        let known = self.store()?.cursor(RESULT, id, RESULT, run)?;
        if known > 0 {
            return Ok(Timestamp::from_micros(known as i64));
        }
        let now = self.clock.now();
        self.store()?.set_cursor(RESULT, id, RESULT, run, now.as_micros() as u64)?;
        Ok(now)
    }

    /// Returns when a task last printed something.
    #[must_use]
    pub fn last_output(&self, task: &Task) -> Option<Timestamp> {
        last_write_us(&self.home.task(&task.id)).map(Timestamp::from_micros)
    }

    /// Gives a log a second name in its session's directory: the task's short handle and when the context
    /// that asks began. Returns that name; no two tasks share one.
    ///
    /// # Errors
    /// When the link cannot be made.
    pub fn link_log(&self, task: &Task, context: &str) -> Result<PathBuf> {
        let directory = self.home.session(&task.session).path().join(LOGS);
        let failed = |error| Error::io("cannot link the log into its session")(error);
        let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(&directory);
        made.map_err(failed)?;
        let (log, handle) = (self.home.log(&task.id), short_handle(task.kind, task.number));
        let mut clashes = 0;
        loop {
            let link = directory.join(task_log_name(&handle, context, clashes));
            match symlink(&log, &link) {
                Ok(()) => return Ok(link),
                Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(failed(error)),
                Err(_) if fs::read_link(&link).is_ok_and(|linked| linked == log) => return Ok(link),
                Err(_) => clashes += 1,
            }
        }
    }

    /// Gives a task, or one of its files, a second name beside its directory: where a source of ours has it. Returns that
    /// name.
    ///
    /// # Errors
    /// When something else has the name, or the link cannot be made.
    pub fn link_beside(&self, task: &Task, name: &str, file: Option<&str>) -> Result<PathBuf> {
        let failed = |error| Error::io(format!("cannot give {} the name {name}", task.id))(error);
        let target = file.map_or_else(|| task.id.to_string(), |file| format!("{}/{file}", task.id));
        let link = self.home.tasks().join(name);
        match symlink(&target, &link) {
            Ok(()) => Ok(link),
            Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(failed(error)),
            Err(error) => match fs::read_link(&link) {
                Ok(known) if known == Path::new(&target) => Ok(link),
                Ok(_) | Err(_) => Err(failed(error)),
            },
        }
    }

    /// Tells whether a task has a log under the name of a context, as those have that were started in it.
    #[must_use]
    pub fn is_of_context(&self, task: &Task, context: &str) -> bool {
        let directory = self.home.session(&task.session).path().join(LOGS);
        let (log, handle) = (self.home.log(&task.id), short_handle(task.kind, task.number));
        (0..)
            .map_while(|clashes| fs::read_link(directory.join(task_log_name(&handle, context, clashes))).ok())
            .any(|linked| linked == log)
    }

    /// Takes away the second names of logs whose tasks were removed, wherever the tasks belonged when they got
    /// them. What cannot be taken away is a link to nothing, and is tried again with the next removal.
    pub(crate) fn sweep_log_names(&self) {
        // A link in place of a directory leads to what is not ours.
        let entries = |directory: &Path| {
            let is_ours = fs::symlink_metadata(directory).is_ok_and(|found| found.is_dir());
            let entries = is_ours.then(|| fs::read_dir(directory).ok()).flatten();
            entries.into_iter().flatten().flatten()
        };
        // A task that waits has a directory and no log yet.
        let is_gone = |task: &Path| {
            let is_task =
                || fs::canonicalize(task.parent()?).ok().zip(fs::canonicalize(self.home.tasks()).ok());
            fs::symlink_metadata(task).is_err() && is_task().is_some_and(|(one, other)| one == other)
        };
        for session in entries(&self.home.sessions()) {
            for name in entries(&session.path()).filter(|entry| entry.file_name() == LOGS) {
                for name in entries(&name.path()) {
                    if fs::read_link(name.path()).is_ok_and(|log| log.parent().is_some_and(is_gone)) {
                        let _ = fs::remove_file(name.path());
                    }
                }
            }
        }
        let tasks = self.home.tasks();
        for name in entries(&tasks) {
            let target = fs::read_link(name.path()).ok();
            let task = target.as_deref().and_then(|target| target.components().next()?.as_os_str().to_str());
            let task = task.and_then(|task| task.parse::<TaskId>().ok());
            if task.is_some_and(|task| !self.home.task(&task).exists()) {
                let _ = fs::remove_file(name.path());
            }
        }
    }
}
