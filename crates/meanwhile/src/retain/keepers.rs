//! Removes the tasks that kept agents alive, together with the agents' tasks.

use std::fs;

use mw_model::TaskId;

use super::clear::{ClearReport, Undelivered};
use crate::disk::session_dir::agent_sessions::{child_session, has_keeper, keeper_session};
use crate::disk::session_dir::lease;
use crate::disk::store::TaskFilter;
use crate::error::Result;
use crate::live::Live;
use crate::live::kill::KillRequest;
use crate::retain::Retention;
use crate::task::Scope;

impl Retention<'_> {
    /// Removes the task that kept the agent of a removed task alive, and its session.
    pub(crate) fn remove_keeper(&self, id: &TaskId) -> Result<()> {
        if has_keeper(&self.base.home.sessions(), id) { self.remove_keeper_session(id) } else { Ok(()) }
    }

    /// Removes the tasks that kept the agents of removed tasks alive: the process that removed those may have been
    /// killed before it got here.
    pub(crate) fn sweep_keepers(&self) -> Result<()> {
        for id in self.base.database.store()?.gone_with_keepers()? {
            // While the agent's task has a directory, it may only be unreadable.
            if !self.base.home.task(&id).is_present()? {
                self.remove_keeper_session(&id)?;
            }
        }
        Ok(())
    }

    /// Removes the sessions of agents whose tasks are gone, once they have no tasks left.
    pub(crate) fn sweep_child_sessions(&self) -> Result<()> {
        for entry in fs::read_dir(self.base.home.sessions()).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let agent =
                name.to_str().and_then(|name| name.parse::<TaskId>().ok()).filter(TaskId::is_of_agent);
            let Some(agent) = agent else { continue };
            let session = child_session(&agent);
            let any =
                TaskFilter { limit: 1, internal: true, ..TaskFilter::new(Scope::Session(session.clone())) };
            let is_used = self.base.home.task(&agent).is_present()?
                || !lease::holders(&entry.path()).is_empty()
                || self.base.database.store()?.list(&any)?.total > 0;
            if !is_used {
                self.remove_session(&session)?;
            }
        }
        Ok(())
    }

    fn remove_keeper_session(&self, id: &TaskId) -> Result<()> {
        let session = keeper_session(id);
        let all = TaskFilter { limit: u32::MAX, ..TaskFilter::new(Scope::Session(session.clone())) };
        let tasks = self.base.database.store()?.list(&all)?.tasks;
        let ids: Vec<_> = tasks.into_iter().map(|task| task.id).collect();
        Live::on(self.base)
            .kill_all(&ids, &KillRequest::term("the removal of its agent".to_owned()))
            .all_done()?;
        self.clear_finished(&ids, Undelivered::Goes, &mut ClearReport::default())?;
        self.remove_session(&session)
    }

    /// Removes what is left of a session without tasks: its rows and its directory.
    pub(crate) fn remove_session(&self, session: &str) -> Result<()> {
        self.base.database.transact(|transaction| Ok(transaction.forget_session(session)?))?;
        let _ = fs::remove_dir_all(self.base.home.session(session).path());
        Ok(())
    }
}
