//! What is kept for those who read: where each has come to, when a result was fetched, and names for logs.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt, symlink};
use std::path::{Path, PathBuf};

use mw_model::wire::LOG_FILE;
use mw_model::{TaskId, Timestamp, parse_short_handle, short_handle, task_log_name};

use crate::disk::log_names::name_beside;
use crate::disk::log_view::{StreamChoice, last_write_us};
use crate::error::{Error, Result};
use crate::read::Reader;
use crate::record::Lookup;
use crate::settle::Settler;
use crate::task::{Scope, Task};

/// Under this name the moment at which a result was fetched is kept as a place.
const RESULT: &str = "result";
/// The directory of a session that has the second names of its logs.
const LOGS: &str = "tasks";

impl Reader<'_> {
    /// Moves a reader's place in a stream of a task's present run, as if all before it had been read.
    ///
    /// # Errors
    /// When the task is unknown or the database fails.
    pub fn move_cursor(&self, id: &TaskId, reader: &str, stream: StreamChoice, to: u64) -> Result<()> {
        let run = Lookup::on(self.base).stored(id)?.state.run();
        Ok(self.base.store()?.set_cursor(reader, id, stream.word(), run, to)?)
    }

    /// Notes that the result of a task's present run was fetched; returns when that was first done.
    ///
    /// # Errors
    /// When the database fails.
    pub fn note_retrieved(&self, id: &TaskId) -> Result<Timestamp> {
        let run = Lookup::on(self.base).stored(id)?.state.run();
        let known = self.base.store()?.cursor(RESULT, id, RESULT, run)?;
        if known > 0 {
            return Ok(Timestamp::from_micros(known as i64));
        }
        let now = self.base.clock.now();
        self.base.store()?.set_cursor(RESULT, id, RESULT, run, now.as_micros() as u64)?;
        Ok(now)
    }

    /// Returns when a task last printed something.
    #[must_use]
    pub fn last_output(&self, task: &Task) -> Option<Timestamp> {
        last_write_us(&self.base.home.task(&task.id)).map(Timestamp::from_micros)
    }

    /// Gives the log of a task a second name, where its dialect has one: beside its directory, or, of a task that is
    /// counted in a context, in its session's directory: its short handle and when the context began. No two tasks
    /// share one. Where that cannot be, the log keeps the name it has.
    pub(crate) fn link_log(&self, task: &Task) {
        self.link_name(task);
        let Some((handle, context)) = task.handle_number.zip(task.context.as_deref()) else { return };
        let handle = short_handle(task.kind, handle);
        let directory = self.base.home.session(&task.session).path().join(LOGS);
        let _ = fs::DirBuilder::new().recursive(true).mode(0o700).create(&directory);
        let log = self.base.home.task(&task.id).log();
        for clashes in 0.. {
            let link = directory.join(task_log_name(&handle, context, clashes));
            match symlink(&log, &link) {
                Err(error)
                    if error.kind() == ErrorKind::AlreadyExists
                        && fs::read_link(&link).is_ok_and(|linked| linked != log) => {}
                _ => return,
            }
        }
    }

    /// Gives a task the name that it has beside its directory in its dialect, if any.
    pub(crate) fn link_name(&self, task: &Task) {
        // What somebody waits for in the foreground is gone before anybody needs a name of it.
        if let Some((name, file)) = name_beside(task).filter(|_| task.handle_number.is_some()) {
            let _ = self.link_beside(task, &name, file);
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
        let link = self.base.home.tasks().join(name);
        match symlink(&target, &link) {
            Ok(()) => Ok(link),
            Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(failed(error)),
            Err(error) => match fs::read_link(&link) {
                Ok(known) if known == Path::new(&target) => Ok(link),
                Ok(_) | Err(_) => Err(failed(error)),
            },
        }
    }

    /// Returns where the output of a task's present run is, by the name that it has or will have in the background: what
    /// somebody waits for in the foreground gets that name here.
    #[must_use]
    pub fn name_log(&self, task: &Task) -> PathBuf {
        if let Some((name, file)) = name_beside(task).filter(|_| task.started_at.is_some()) {
            let _ = self.link_beside(task, &name, file);
        }
        self.log_of(task)
    }

    /// Returns where the output of a task's present run is, by the name under which its start told it.
    #[must_use]
    pub fn log_of(&self, task: &Task) -> PathBuf {
        let log = self.base.home.task(&task.id).log();
        if let Some((name, file)) = name_beside(task) {
            let link = self.base.home.tasks().join(name);
            let is_there = link.is_symlink();
            return match file {
                Some(_) if is_there => link,
                None if is_there => link.join(LOG_FILE),
                Some(_) | None => log,
            };
        }
        let Some((number, context)) = task.handle_number.zip(task.context.as_deref()) else { return log };
        let handle = short_handle(task.kind, number);
        let linked_in = |session: PathBuf| {
            let names =
                (0..).map(|clashes| session.join(LOGS).join(task_log_name(&handle, context, clashes)));
            let mut links = names.map_while(|link| Some((fs::read_link(&link).ok()?, link)));
            links.find(|(linked, _)| *linked == log).map(|(_, link)| link)
        };
        let own = linked_in(self.base.home.session(&task.session).path().to_owned());
        // One that was passed on has its name where it was started.
        let elsewhere = || {
            let sessions = fs::read_dir(self.base.home.sessions()).into_iter().flatten().flatten();
            sessions.map(|session| session.path()).find_map(linked_in)
        };
        own.or_else(elsewhere).unwrap_or(log)
    }

    /// Finds a session's task as [`Lookup::resolve_exact`](crate::engine::Lookup::resolve_exact) does, but what looks like a short handle, such as `bash_1`,
    /// means a task of this context only.
    ///
    /// # Errors
    /// As [`Lookup::resolve_exact`](crate::engine::Lookup::resolve_exact).
    pub fn resolve_in_context(&self, handle: &str, session: &str, context: &str) -> Result<TaskId> {
        if parse_short_handle(handle).is_none() {
            return Lookup::on(self.base).resolve_exact(handle, &Scope::Session(session.to_owned()));
        }
        Settler::on(self.base).reconcile()?;
        let id = self.base.store()?.in_context(handle, session, context)?;
        id.ok_or_else(|| Error::NotFound(handle.to_owned()))
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
                || fs::canonicalize(task.parent()?).ok().zip(fs::canonicalize(self.base.home.tasks()).ok());
            fs::symlink_metadata(task).is_err() && is_task().is_some_and(|(one, other)| one == other)
        };
        for session in entries(&self.base.home.sessions()) {
            for name in entries(&session.path()).filter(|entry| entry.file_name() == LOGS) {
                for name in entries(&name.path()) {
                    if fs::read_link(name.path()).is_ok_and(|log| log.parent().is_some_and(is_gone)) {
                        let _ = fs::remove_file(name.path());
                    }
                }
            }
        }
        let tasks = self.base.home.tasks();
        // The directory itself tells what is a link; most of what is there is none.
        for name in entries(&tasks).filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_symlink())) {
            let target = fs::read_link(name.path()).ok();
            let task = target.as_deref().and_then(|target| target.components().next()?.as_os_str().to_str());
            let task = task.and_then(|task| task.parse::<TaskId>().ok());
            if task.is_some_and(|task| !self.base.home.task(&task).exists()) {
                let _ = fs::remove_file(name.path());
            }
        }
    }
}
