//! Which notifications of a task its owner has received, for callers that show tasks.

use mw_model::TaskId;

use crate::database::Lookup;
use crate::disk::session_dir::lease;
use crate::disk::store::Stage;
use crate::error::Result;
use crate::notify::Notifications;
use crate::reconcile::Reconciler;
use crate::task::Scope;

/// A notification of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskNotice {
    /// The run it is about.
    pub run: u32,
    /// `ended`, `stalled`, `ready` or `batch`.
    pub kind: String,
    /// Whether the owner has received it.
    pub state: DeliveryState,
}

/// Whether an owner has received a notification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeliveryState {
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
    pub fn notices_of(&self, handle: &str, scope: &Scope) -> Result<Vec<TaskNotice>> {
        let id = Lookup::on(&self.base.database).resolve(handle, scope)?;
        // An end that a list already shows must have its notification here.
        Reconciler::on(self.base).reconcile_task(&id)?;
        let rows = self.base.database.store()?.notices_of(&id)?.into_iter();
        Ok(rows
            .map(|(run, kind, stage)| {
                let state = match stage {
                    Stage::Waiting => DeliveryState::Waiting,
                    Stage::HandedOver | Stage::Reserved => DeliveryState::HandedOver,
                    Stage::Known | Stage::Closed => DeliveryState::Known,
                };
                TaskNotice { run, kind, state }
            })
            .collect())
    }

    /// Returns the tasks of a session that a process waits for and will report itself: foreground commands.
    ///
    /// # Errors
    /// When the database fails.
    pub fn awaited(&self, session: &str) -> Result<Vec<TaskId>> {
        Reconciler::on(self.base).reconcile()?;
        let held = self.base.home.session(session);
        let reserved = self.base.database.store()?.reserved(session)?.into_iter();
        // A process that has exited no longer waits.
        Ok(reserved.filter(|(_, holder)| lease::is_held(held.path(), holder)).map(|(id, _)| id).collect())
    }
}
