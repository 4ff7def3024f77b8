//! What a task's owner knows of it, for those who show tasks.

use std::fs;

use mw_model::{Event, TaskId, TaskState};

use crate::disk::lease;
use crate::disk::store::{Change, Stage};
use crate::error::{Error, Result};
use crate::notify::Notifications;
use crate::read::Reader;
use crate::record::Lookup;
use crate::redact::Redaction;
use crate::settle::Settler;
use crate::task::{Scope, Task};

/// News of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskNews {
    /// Of which run.
    pub run: u32,
    /// `ended`, `stalled` or `ready`.
    pub kind: String,
    /// Whether the owner knows.
    pub told: Told,
}

/// Whether an owner knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    /// Not yet.
    Waiting,
    /// A host has it and has not said that it was read.
    HandedOver,
    /// It does.
    Known,
}

impl Notifications<'_> {
    /// Returns the news of a task, oldest first, and whether its owner knows them.
    ///
    /// # Errors
    /// When the task is unknown, or the database fails.
    pub fn news_of(&self, handle: &str, scope: &Scope) -> Result<Vec<TaskNews>> {
        let id = Lookup::on(self.base).resolve(handle, scope)?;
        // An end that a list already shows has its news here too.
        Settler::on(self.base).reconcile_task(&id)?;
        let rows = self.base.store()?.notices_of(&id)?.into_iter();
        Ok(rows
            .map(|(run, kind, stage)| {
                let told = match stage {
                    Stage::Waiting => Told::Waiting,
                    Stage::HandedOver | Stage::Promised => Told::HandedOver,
                    Stage::Known | Stage::Closed => Told::Known,
                };
                TaskNews { run, kind, told }
            })
            .collect())
    }

    /// Returns the tasks of a session that somebody waits for and will tell of: commands in the foreground.
    ///
    /// # Errors
    /// When the database fails.
    pub fn awaited(&self, session: &str) -> Result<Vec<TaskId>> {
        Settler::on(self.base).reconcile()?;
        let held = self.base.home.session(session);
        let promised = self.base.store()?.promised(session)?.into_iter();
        // Whoever died over it waits no more.
        Ok(promised.filter(|(_, holder)| lease::is_held(held.path(), holder)).map(|(id, _)| id).collect())
    }

    /// Asks whoever waits for the end of a task to wait no longer. The task itself is not touched: it goes on, and
    /// its end is told as that of any other in the background.
    ///
    /// # Errors
    /// When the task is unknown, or its directory cannot be written.
    pub fn move_to_background(&self, id: &TaskId) -> Result<()> {
        Settler::on(self.base).current(id)?;
        let mark = self.base.home.task(id).join(MOVED_FILE);
        fs::write(mark, []).map_err(Error::io("cannot mark the task"))?;
        self.base.ring();
        Ok(())
    }

    /// Makes a task for which nobody waits in the foreground any more one of the background: it gets its short
    /// handle, and hooks hear of it from now on. One that is over, or is in the background already, is left as it is.
    ///
    /// # Errors
    /// When the task is unknown, or the database or the task's files cannot be written.
    pub fn go_on_in_background(&self, id: &TaskId) -> Result<Task> {
        Settler::on(self.base).reconcile_task(id)?;
        let store = self.base.durable()?;
        let transaction = store.begin()?;
        let Some(mut task) = transaction.task(id)? else { return Err(Error::NotFound(id.to_string())) };
        let is_over = matches!(task.state, TaskState::Ended { .. });
        if task.handle_number.is_none() && !is_over {
            let context = task.context.as_deref();
            let last = || Ok(transaction.last_handle_number(&task.session, context)?);
            let handle_number = self.base.home.session(&task.session).take_handle_number(context, last)?;
            task.handle_number = Some(handle_number);
            // One that waits for a slot starts in the background, when it does.
            let waits = matches!(task.state, TaskState::Pending { .. });
            task.foreground &= !waits;
            transaction.set_handle_number(&task)?;
            let now = self.base.clock.now();
            if !waits {
                let event = Event::MovedToBackground { handle_number };
                transaction.apply(&mut task, &event, now, Change::default())?;
            }
            // Before the commit: a database that is rebuilt finds the number in the directory.
            self.base.home.rename_task(&task, self.base.settings.session_grace_ms, now)?;
        }
        transaction.commit()?;
        Reader::on(self.base).link_log(&task);
        self.base.ring();
        Ok(Redaction::on(self.base).without_secrets(task))
    }

    /// Tells whether somebody asked for that.
    #[must_use]
    pub fn is_moved_to_background(&self, id: &TaskId) -> bool {
        self.base.home.task(id).join(MOVED_FILE).exists()
    }
}

/// Marks a task for whose end nobody shall wait any more.
const MOVED_FILE: &str = "moved";
