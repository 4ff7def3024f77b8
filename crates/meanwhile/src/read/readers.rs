//! Cursors of readers, and when a result was first fetched.

use std::path::PathBuf;

use mw_model::{TaskId, Timestamp, parse_short_handle};

use crate::database::Lookup;
use crate::disk::log_names;
use crate::disk::task_dir::log_view::{StreamChoice, last_write_us};
use crate::error::{Error, Result};
use crate::read::Reader;
use crate::reconcile::Reconciler;
use crate::task::{Scope, Task};

/// The cursor with this name stores when a result was fetched, instead of an offset.
const RESULT: &str = "result";

impl Reader<'_> {
    /// Moves a reader's cursor in a stream of a task's current run, as if everything before it had been read.
    ///
    /// # Errors
    /// When the task is unknown or the database fails.
    pub fn move_cursor(&self, id: &TaskId, reader: &str, stream: StreamChoice, to: u64) -> Result<()> {
        let run = self.base.database.stored(id)?.state.run();
        Ok(self.base.database.store()?.set_cursor(reader, id, stream.word(), run, to)?)
    }

    /// Records that the result of a task's current run was fetched, and returns when that first happened.
    ///
    /// # Errors
    /// When the database fails.
    pub fn note_retrieved(&self, id: &TaskId) -> Result<Timestamp> {
        let run = self.base.database.stored(id)?.state.run();
        let known = self.base.database.store()?.cursor(RESULT, id, RESULT, run)?;
        if known > 0 {
            return Ok(Timestamp::from_micros(known as i64));
        }
        let now = self.base.clock.now();
        self.base.database.store()?.set_cursor(RESULT, id, RESULT, run, now.as_micros() as u64)?;
        Ok(now)
    }

    /// Returns when a task last printed something.
    #[must_use]
    pub fn last_output(&self, task: &Task) -> Option<Timestamp> {
        last_write_us(&self.base.home.task(&task.id)).map(Timestamp::from_micros)
    }

    /// Finds a session's task as [`Lookup::resolve_exact`](crate::engine::Lookup::resolve_exact) does, but a text in
    /// the form of a short handle, such as `bash_1`, means only a task of this context.
    ///
    /// # Errors
    /// As [`Lookup::resolve_exact`](crate::engine::Lookup::resolve_exact).
    pub fn resolve_in_context(&self, handle: &str, session: &str, context: &str) -> Result<TaskId> {
        if parse_short_handle(handle).is_none() {
            return Lookup::on(&self.base.database)
                .resolve_exact(handle, &Scope::Session(session.to_owned()));
        }
        Reconciler::on(self.base).reconcile()?;
        let id = self.base.database.store()?.in_context(handle, session, context)?;
        id.ok_or_else(|| Error::NotFound(handle.to_owned()))
    }

    /// Links a second name, next to the task's directory, to a task or one of its files. Returns the path of the link.
    ///
    /// # Errors
    /// When another file has the name, or the link cannot be created.
    pub fn link_beside(&self, task: &Task, name: &str, file: Option<&str>) -> Result<PathBuf> {
        log_names::link_beside(&self.base.home, task, name, file)
    }

    /// Returns the path of the output of a task's current run, under the name that it has or will have in the
    /// background.
    #[must_use]
    pub fn name_log(&self, task: &Task) -> PathBuf {
        log_names::name_log(&self.base.home, task)
    }

    /// Returns the path of the output of a task's current run, under the name that the reply to its start contained.
    #[must_use]
    pub fn log_of(&self, task: &Task) -> PathBuf {
        log_names::log_of(&self.base.home, task)
    }
}
