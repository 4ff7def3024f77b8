//! The one way to change a task: look at it again inside the transaction, decide, write, commit.
//!
//! There is no daemon: between a look at a task and a change of it any other process may kill, restart, clear or settle
//! it. So no deed acts on a [`Task`] that was read before its transaction began. A deed is a closure that is handed the
//! task as it is now, while nobody else can write; it refuses what no longer fits, with an error, and then nothing has
//! happened.
//!
//! Three rules for what a deed does to files:
//! - what it needs room for is made before the commit, under a name that means nothing by itself;
//! - what cannot be taken back (a move, a removal) comes after the commit, or is one step that anybody can repeat;
//! - after the commit nothing is an error any more: the deed is done, and the next process finishes what is missing.

use mw_model::{Cause, Event, TaskId, TaskState, Timestamp};

use super::Records;
use super::ending::end_unsupervised;
use crate::base::Base;
use crate::disk::store::{Change, Transaction};
use crate::error::{Error, Result};
use crate::task::Task;

/// A task inside the transaction that changes it.
pub(crate) struct Changing<'change> {
    base: &'change Base,
    transaction: &'change Transaction<'change>,
    task: Task,
    now: Timestamp,
    has_changed: bool,
}

impl Records<'_> {
    /// Changes one task. The deed gets it as the database has it inside the transaction, and looks at its directory where
    /// that matters; when the deed returns an error, nothing has changed.
    ///
    /// # Errors
    /// The deed's own, [`Error::NotFound`] for a task that is gone, and those of the database.
    pub(crate) fn change<T>(
        &self,
        id: &TaskId,
        deed: impl FnOnce(&mut Changing<'_>) -> Result<T>,
    ) -> Result<T> {
        let mut has_changed = false;
        let done = self.base.transact(|transaction| {
            let task = transaction.task(id)?.ok_or_else(|| Error::NotFound(id.to_string()))?;
            let now = self.base.clock.now();
            let mut changing = Changing { base: self.base, transaction, task, now, has_changed: false };
            let done = deed(&mut changing)?;
            has_changed = changing.has_changed;
            Ok(done)
        })?;
        if has_changed {
            self.base.ring();
        }
        Ok(done)
    }

    /// Shelves the run before one that waits, where its files may not have moved yet. What cannot be done now is done
    /// before the next run is launched.
    pub(crate) fn shelve_waiting(&self, id: &TaskId) {
        let failed = || Error::io("cannot move the files of the earlier run");
        let _ = self.change(id, |changing| {
            self.base.home.task(&changing.task().id).shelve_before(changing.task()).map_err(failed())
        });
    }
}

impl Changing<'_> {
    /// Returns the task as it is now.
    pub(crate) const fn task(&self) -> &Task {
        &self.task
    }

    /// Appends an event and moves the task on to the state it leads to.
    pub(crate) fn apply(&mut self, event: &Event) -> Result<()> {
        self.transaction.apply(&mut self.task, event, self.now, Change::default())?;
        self.has_changed = true;
        Ok(())
    }

    /// Ends a task that no supervisor sees end.
    pub(crate) fn end(&mut self, cause: Cause) -> Result<()> {
        end_unsupervised(&self.base.home, self.transaction, &mut self.task, cause, self.now)?;
        self.has_changed = true;
        Ok(())
    }

    /// Returns the refusal of a deed that does not fit the task's state.
    pub(crate) fn refusal(&self, message: &str) -> Error {
        Error::WrongState {
            id: self.task.id.to_string(),
            status: self.task.status,
            message: message.to_owned(),
        }
    }

    /// Brings the task up to what its directory shows, for a deed that comes after a run; refuses one whose directory is
    /// not ours.
    pub(crate) fn look_at_directory(&mut self) -> Result<()> {
        self.base.home.task(&self.task.id).refuse_foreign()?;
        let is_settled = match &self.task.state {
            TaskState::Pending { .. } => true,
            TaskState::Ended { .. } => self.task.survivors == 0,
            TaskState::Starting { .. } | TaskState::Running { .. } | TaskState::Cancelling { .. } => false,
        };
        if !is_settled {
            let findings = Records::on(self.base).look_at(&self.task)?;
            self.has_changed |=
                Records::on(self.base).apply_findings(self.transaction, &mut self.task, &findings)?;
        }
        Ok(())
    }
}
