//! Waiting for more output.

use std::time::Duration;

use mw_model::wire::Operation;
use mw_model::{TaskId, TaskState};

use super::Reader;
use crate::error::Result;
use crate::reconcile::Reconciler;
use crate::supervisor::control::Connection;

impl Reader<'_> {
    /// Waits until a task's output has grown past an offset, the task has ended, or the time is up.
    ///
    /// # Errors
    /// When the database fails.
    pub fn wait_for_output(&self, id: &TaskId, seen: u64, longest: Duration) -> Result<()> {
        /// How long to wait for the socket of a task that was just started.
        const MOMENT: Duration = Duration::from_millis(5);
        let listener = self.base.listen()?;
        let task = self.base.database.stored(id)?;
        if matches!(task.state, TaskState::Pending { .. }) {
            listener.wait(longest);
            // The process that should have started it may have been killed.
            return Reconciler::on(self.base).reconcile();
        }
        let after_end = task.status.is_terminal();
        let Ok(mut connection) = Connection::connect(&self.base.home, id) else {
            listener.wait(longest.min(MOMENT));
            return Ok(());
        };
        let _ = connection.set_timeout(Some(longest));
        if connection.send(Operation::Watch { offset: seen, after_end }).is_ok() {
            let _ = connection.reply();
        }
        Ok(())
    }
}
