//! The tasks that an agent leaves behind in its own session.

use mw_model::{Cause, TaskId, TaskKind};

use crate::disk::session_dir::agent_sessions::child_session;
use crate::error::Result;
use crate::session::Sessions;
use crate::task::Task;

impl Sessions<'_> {
    /// Handles the tasks in the session of an agent that has ended: they are reassigned to the session that started
    /// the agent, or ended if the agent was killed or exceeded a limit.
    ///
    /// # Errors
    /// When the database fails, or a task cannot be reached.
    pub(crate) fn release_children(&self, task: &Task) -> Result<Vec<TaskId>> {
        let child = child_session(&task.id);
        if task.kind != TaskKind::Agent || !self.knows_session(&child) {
            return Ok(Vec::new());
        }
        match task.cause_value() {
            Some(Cause::Cancelled { .. } | Cause::TimedOut { .. } | Cause::LimitReached { .. }) => {
                let _ = self.end_session(&child, "the end of its agent")?.all_done()?;
                Ok(Vec::new())
            }
            Some(
                Cause::Exited { .. }
                | Cause::Signaled { .. }
                | Cause::SpawnFailed { .. }
                | Cause::Lost { .. }
                | Cause::Skipped { .. },
            )
            | None => self.reassign(&child, &task.session, "its agent has ended"),
        }
    }
}
