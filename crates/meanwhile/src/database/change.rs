//! Changes one task on request: reads it again inside the transaction, decides, writes and commits.
//!
//! There is no daemon: between reading a task and changing it, any other process may kill, restart, clear or settle
//! it. So no operation acts on a [`Task`] that was read before its transaction began. An operation is a closure that
//! gets the current task while no other process can write. If the task's state does not allow the operation, it
//! returns an error, and nothing has changed.
//!
//! Three rules for the files that an operation changes:
//! - files that need disk space are written before the commit, under a name that has no effect by itself;
//! - a step that cannot be undone (a move, a removal) comes after the commit, or can be repeated by any process;
//! - nothing after the commit is reported as an error: the next process finishes what is missing.

use mw_model::{Cause, Event, TaskId, TaskState, Timestamp};

use super::ending::end_unsupervised;
use super::findings::Findings;
use super::stores::Database;
use crate::disk::store::{Change, Store, Transaction};
use crate::error::{Error, Result};
use crate::fail_point::fail_point;
use crate::task::Task;

/// A task inside the transaction that changes it.
pub(crate) struct Changing<'change> {
    database: &'change Database,
    transaction: &'change Transaction<'change>,
    task: Task,
    now: Timestamp,
    has_changed: bool,
}

impl Database {
    /// Changes one task. The operation gets the task as it is in the database inside the transaction, and inspects its
    /// directory if necessary. If the operation returns an error, nothing has changed.
    ///
    /// # Errors
    /// Those of the operation, [`Error::NotFound`] for a task that was removed, and those of the database.
    pub(crate) fn change<T>(
        &self,
        id: &TaskId,
        operation: impl FnOnce(&mut Changing<'_>) -> Result<T>,
    ) -> Result<T> {
        let done = self.change_in(self.durable()?, id, operation)?;
        done.ok_or_else(|| Error::NotFound(id.to_string()))
    }

    /// Like [`Database::change`], for a change that follows from the task's directory: on a full disk it is made in the
    /// copy in memory, and repeated later. Returns `None` for a task that was removed.
    pub(crate) fn change_if_present<T>(
        &self,
        id: &TaskId,
        operation: impl FnOnce(&mut Changing<'_>) -> Result<T>,
    ) -> Result<Option<T>> {
        let store = self.store()?;
        self.change_in(&store, id, operation)
    }

    fn change_in<T>(
        &self,
        store: &Store,
        id: &TaskId,
        operation: impl FnOnce(&mut Changing<'_>) -> Result<T>,
    ) -> Result<Option<T>> {
        let mut has_changed = false;
        let done = self.transact_in(store, |transaction| {
            let Some(task) = transaction.task(id)? else { return Ok(None) };
            let now = self.clock.now();
            let mut changing = Changing { database: self, transaction, task, now, has_changed: false };
            let done = operation(&mut changing)?;
            has_changed = changing.has_changed;
            Ok(Some(done))
        })?;
        if has_changed {
            fail_point("change-committed");
            self.announce();
        }
        Ok(done)
    }

    /// Moves the files of the previous run of a queued task to its archive, if that has not happened yet. A failure is
    /// retried before the next run is launched.
    pub(crate) fn archive_previous_run(&self, id: &TaskId) {
        let failed = || Error::io("cannot move the files of the earlier run");
        let _ = self.change(id, |changing| {
            self.home.task(&changing.task().id).archive_before(changing.task()).map_err(failed())
        });
    }
}

impl Changing<'_> {
    /// Returns the current task.
    pub(crate) const fn task(&self) -> &Task {
        &self.task
    }

    /// Returns the time of the change.
    pub(crate) const fn now(&self) -> Timestamp {
        self.now
    }

    /// Returns the transaction, for what is stored beside the task.
    pub(crate) const fn transaction(&self) -> &Transaction<'_> {
        self.transaction
    }

    /// Appends an event and applies it to the task.
    pub(crate) fn apply(&mut self, event: &Event) -> Result<()> {
        let change = Change::default();
        self.database.record_event(self.transaction, &mut self.task, event, self.now, change)?;
        self.has_changed = true;
        Ok(())
    }

    /// Records that the files of the task have changed, so that those who watch look again.
    pub(crate) const fn note_change(&mut self) {
        self.has_changed = true;
    }

    /// Ends a task that has no supervisor.
    pub(crate) fn end(&mut self, cause: Cause) -> Result<()> {
        end_unsupervised(self.database, self.transaction, &mut self.task, cause, self.now)?;
        self.has_changed = true;
        Ok(())
    }

    /// Gives a foreground task its short handle. A queued task then starts in the background.
    pub(crate) fn set_handle_number(&mut self, handle_number: u64) -> Result<()> {
        self.task.handle_number = Some(handle_number);
        self.task.foreground &= !matches!(self.task.state, TaskState::Pending { .. });
        self.transaction.set_handle_number(&self.task)?;
        self.has_changed = true;
        Ok(())
    }

    /// Returns the error for an operation that does not fit the task's state.
    pub(crate) fn refusal(&self, message: &str) -> Error {
        self.task.refusal(message)
    }

    /// Applies what the task's directory shows, for an operation that follows a run. Refuses a directory that is not
    /// ours.
    pub(crate) fn look_at_directory(&mut self) -> Result<()> {
        self.database.home.task(&self.task.id).refuse_foreign()?;
        let is_settled = match &self.task.state {
            TaskState::Pending { .. } => true,
            TaskState::Ended { .. } => self.task.survivors == 0,
            TaskState::Starting { .. } | TaskState::Running { .. } | TaskState::Cancelling { .. } => false,
        };
        if !is_settled {
            self.record(&self.database.look_at(&self.task)?)?;
        }
        Ok(())
    }

    /// Applies what was found in the task's directory; returns whether any of it was new.
    pub(super) fn record(&mut self, findings: &Findings) -> Result<bool> {
        let is_new = self.database.apply_findings(self.transaction, &mut self.task, findings)?;
        self.has_changed |= is_new;
        Ok(is_new)
    }
}
