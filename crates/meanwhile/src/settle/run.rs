//! The work that follows the end of a task.

use std::fs::File;
use std::time::Duration;

use mw_model::{TaskId, TaskKind};

use crate::disk::settle_turn::SettleTurn;
use crate::error::{Error, Result};
use crate::fail_point::fail_point;
use crate::hooks::Hooks;
use crate::reconcile::Reconciler;
use crate::retain::Retention;
use crate::session::Sessions;
use crate::settle::Settler;

impl Settler<'_> {
    /// Does the work that a supervisor leaves to its last helper: records the end, starts the next task, runs hooks,
    /// and purges from time to time. Without an id, it does so for all tasks.
    ///
    /// Only one process at a time does so. Another leaves the end of its task to that process, so that a hundred tasks that
    /// end at once do not make a hundred processes that wait for the database.
    ///
    /// # Errors
    /// When the database fails; the next command does the same work.
    pub fn settle(&self, id: Option<&TaskId>) -> Result<()> {
        self.settle_in_turn(id, None)
    }

    /// Like [`Settler::settle`](crate::engine::Settler::settle), with the lock of the turn if a supervisor hands it over.
    ///
    /// # Errors
    /// As [`Settler::settle`](crate::engine::Settler::settle).
    pub fn settle_in_turn(&self, id: Option<&TaskId>, turn: Option<File>) -> Result<()> {
        fail_point("settle-begun");
        self.base.database.settles_itself.set(true);
        let mut turn = SettleTurn::take(&self.base.home, turn);
        if let Some(id) = id.filter(|id| turn.is_some() || self.has_own_duties(id)) {
            self.record_end(id)?;
        }
        let had_turn = turn.is_some();
        while let Some(current) = turn {
            self.settle_others(id.is_none() || current.is_wanted())?;
            turn = current.once_more(self.patience());
        }
        Hooks::on(self.base).fire_hooks()?;
        if had_turn { Retention::on(self.base).purge_if_due() } else { Ok(()) }
    }

    /// How long to wait for the end of another task before the turn is released. While tasks are queued, the next end often
    /// comes soon, and another process would have to open the database first.
    fn patience(&self) -> Duration {
        const SOON: Duration = Duration::from_millis(50);
        let settings = &self.base.settings;
        // Hooks run, and spans are exported, after the turn.
        let others_wait = settings.hooks.any() || settings.traces.export;
        if self.base.home.is_waiting_noted() && !others_wait { SOON } else { Duration::ZERO }
    }

    /// Returns whether the end of a task has consequences that only its own process knows: tasks that an agent leaves
    /// behind, and a receiver of spans that the task's environment names.
    fn has_own_duties(&self, id: &TaskId) -> bool {
        let is_exported = || {
            let spec = self.base.home.task(id).spec();
            spec.is_ok_and(|spec| spec.trace.is_some_and(|trace| trace.is_exported()))
        };
        id.as_str().starts_with(TaskKind::Agent.prefix()) || is_exported()
    }

    fn record_end(&self, id: &TaskId) -> Result<()> {
        Reconciler::on(self.base).reconcile_task(id)?;
        if id.as_str().starts_with(TaskKind::Agent.prefix()) {
            let task = self.base.database.stored(id)?;
            if task.status.is_terminal() {
                Sessions::on(self.base).release_children(&task)?;
            }
        }
        Ok(())
    }

    /// Records the ends of all tasks if that is wanted or needed to start queued tasks, and starts those that may start.
    fn settle_others(&self, is_wanted: bool) -> Result<()> {
        // This also removes a flag that is set although no task is queued.
        let any_queued = || {
            Ok::<_, Error>(self.base.home.is_waiting_noted() || self.base.database.store()?.any_waiting()?)
        };
        if is_wanted || any_queued()? {
            Reconciler::on(self.base).reconcile_unsettled()?;
        }
        // A task whose run has ended may be queued again by now.
        if any_queued()? {
            Reconciler::on(self.base).pump_queue();
        }
        Ok(())
    }
}
