//! The work that follows the end of a task.

use mw_model::{TaskId, TaskKind};

use crate::error::Result;
use crate::fail_point::fail_point;
use crate::notify::Hooks;
use crate::record::Lookup;
use crate::retain::Retention;
use crate::runner::Runner;
use crate::session::Sessions;
use crate::settle::Settler;

impl Runner<'_> {
    /// Does the work that a supervisor leaves to its last helper: records the end, starts the next task, runs hooks,
    /// and purges from time to time. Without an id, it does so for all tasks.
    ///
    /// # Errors
    /// When the database fails; the next command does the same work.
    pub fn settle(&self, id: Option<&TaskId>) -> Result<()> {
        fail_point("settle-begun");
        self.base.settles_itself.set(true);
        match id {
            Some(id) => {
                Settler::on(self.base).reconcile_task(id)?;
                if id.as_str().starts_with(TaskKind::Agent.prefix()) {
                    let task = Lookup::on(self.base).stored(id)?;
                    if task.status.is_terminal() {
                        Sessions::on(self.base).release_children(&task)?;
                    }
                }
            }
            None => Settler::on(self.base).reconcile()?,
        }
        // This also removes a flag that is set although no task is queued.
        if self.base.home.waiting_flag().is_set() || self.base.store()?.any_waiting()? {
            Settler::on(self.base).reconcile_unsettled()?;
            Settler::on(self.base).pump_queue();
        }
        Hooks::on(self.base).fire_hooks()?;
        Retention::on(self.base).purge_if_due()
    }
}
