//! Which notifications of a task its owner has received, for callers that show tasks.

use mw_model::TaskId;

use crate::disk::session_dir::lease;
use crate::disk::store::Stage;
use crate::error::Result;
use crate::notify::Notifications;
use crate::record::Lookup;
use crate::settle::Settler;
use crate::task::Scope;

/// A notification of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskNews {
    /// The run it is about.
    pub run: u32,
    /// `ended`, `stalled` or `ready`.
    pub kind: String,
    /// Whether the owner has received it.
    pub told: Told,
}

/// Whether an owner has received a notification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    /// Not yet.
    Waiting,
    /// A host has it and has not acknowledged it.
    HandedOver,
    /// Received.
    Known,
}

impl Notifications<'_> {
    /// Returns the notifications of a task, oldest first, and whether its owner has received them.
    ///
    /// # Errors
    /// When the task is unknown, or the database fails.
    pub fn news_of(&self, handle: &str, scope: &Scope) -> Result<Vec<TaskNews>> {
        let id = Lookup::on(self.base).resolve(handle, scope)?;
        // An end that a list already shows must have its notification here.
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

    /// Returns the tasks of a session that a process waits for and will report itself: foreground commands.
    ///
    /// # Errors
    /// When the database fails.
    pub fn awaited(&self, session: &str) -> Result<Vec<TaskId>> {
        Settler::on(self.base).reconcile()?;
        let held = self.base.home.session(session);
        let promised = self.base.store()?.promised(session)?.into_iter();
        // A process that has exited no longer waits.
        Ok(promised.filter(|(_, holder)| lease::is_held(held.path(), holder)).map(|(id, _)| id).collect())
    }
}
