//! What a task's owner knows of it, for those who show tasks.

use mw_model::TaskId;

use crate::disk::session_dir::lease;
use crate::disk::store::Stage;
use crate::error::Result;
use crate::notify::Notifications;
use crate::record::Lookup;
use crate::settle::Settler;
use crate::task::Scope;

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
}
