//! What remains of ended tasks: their children, and the processes that keep an agent alive between two messages.

use mw_model::wire::KillReceipt;
use mw_model::{Lifetime, TaskId, TaskState};

use super::kill::KillRequest;
use crate::disk::session_dir::agent_sessions::{has_keeper, keeper_session, kept_agent};
use crate::error::Result;
use crate::live::Live;
use crate::task::{Scope, Task};

impl Live<'_> {
    /// Returns the ended tasks that have live children, or whose agent is kept alive for a follow-up.
    ///
    /// # Errors
    /// When the database fails.
    pub fn left_behind(&self, scope: &Scope, batch: Option<&str>) -> Result<Vec<TaskId>> {
        let is_meant = |task: &Task| {
            scope.includes(&task.session)
                && batch.is_none_or(|batch| task.batch_id.as_deref() == Some(batch))
                && matches!(task.state, TaskState::Ended { .. })
        };
        let store = self.base.database.store()?;
        let mut ids = Vec::new();
        for task in store.unsettled()? {
            let left = match kept_agent(&task.session) {
                Some(agent) => store.task(&agent)?,
                None => Some(task),
            };
            ids.extend(left.filter(is_meant).map(|task| task.id));
        }
        Ok(ids)
    }

    /// Ends the process that keeps a task's agent alive, if there is one.
    pub(crate) fn end_keeper(&self, id: &TaskId, request: &KillRequest) -> Result<Vec<KillReceipt>> {
        if !has_keeper(&self.base.home.sessions(), id) {
            return Ok(Vec::new());
        }
        let tasks = self.base.database.store()?.tasks_of(&keeper_session(id))?;
        let ids: Vec<_> = tasks.into_iter().map(|task| task.id).collect();
        self.kill_all(&ids, request).all_done()
    }

    /// Returns the agents that have answered, are kept alive for a follow-up, and end with this session.
    pub(crate) fn agents_kept_in(&self, session: &str, lifetimes: &[Lifetime]) -> Result<Vec<TaskId>> {
        let mut kept = Vec::new();
        let store = self.base.database.store()?;
        for task in store.unsettled()? {
            let Some(agent) = kept_agent(&task.session) else { continue };
            let agent = store.task(&agent)?;
            let ends = |agent: &Task| {
                agent.session == session
                    && lifetimes.contains(&agent.lifetime)
                    && matches!(agent.state, TaskState::Ended { .. })
            };
            kept.extend(agent.filter(ends).map(|agent| agent.id));
        }
        Ok(kept)
    }
}
