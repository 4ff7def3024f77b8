//! What there is to do when a task has ended: start the next, run hooks, remove what is old.

use mw_model::{TaskId, TaskKind};

use crate::error::Result;
use crate::fail_point::fail_point;
use crate::launch::Launcher;
use crate::live::Agents;
use crate::notify::Hooks;
use crate::queue::Queue;
use crate::queue::next;
use crate::record::Lookup;
use crate::retain::Retention;
use crate::settle::Settler;

impl Settler<'_> {
    /// Starts whatever may start. Failures are recorded with their tasks.
    pub(crate) fn pump_queue(&self) {
        // Whoever lives on without supervisors comes before those who wait, once: what cannot be adopted now is left.
        if self.pump_once() && self.reconcile_unsettled().is_ok() {
            let _ = self.pump_once();
        }
    }

    /// Does it once; tells whether tasks went on waiting because one may live on in a slot that looks free.
    fn pump_once(&self) -> bool {
        let picked = (|| -> Result<_> {
            let store = self.base.durable()?;
            let transaction = store.begin()?;
            self.base.home.note_waiting()?;
            let picked = Queue::on(self.base).pick_everywhere(&transaction)?;
            next::commit(&self.base.home, transaction)?;
            Ok(picked)
        })();
        let Ok(picked) = picked else { return false };
        let (again, untended) = (picked.any_ended, picked.any_untended);
        let changed = again || !picked.to_launch.is_empty();
        let freed = Launcher::on(self.base).launch_all(picked.to_launch);
        if changed {
            self.base.ring();
        }
        // A skipped task may free those that come after it.
        if freed || again { self.pump_once() } else { untended }
    }

    /// What a supervisor does as its last act: records the ending, starts the next, runs hooks, and removes now and
    /// then what nobody needs any more. Without a task, it does so for all.
    ///
    /// # Errors
    /// When the database fails; the next command does the same work.
    pub fn settle(&self, id: Option<&TaskId>) -> Result<()> {
        fail_point("settle-begun");
        self.base.settles_itself.set(true);
        match id {
            Some(id) => {
                self.reconcile_task(id)?;
                if id.as_str().starts_with(TaskKind::Agent.prefix()) {
                    let task = Lookup::on(self.base).stored(id)?;
                    if task.status.is_terminal() {
                        Agents::on(self.base).release_children(&task)?;
                    }
                }
            }
            None => self.reconcile()?,
        }
        // A flag that nobody waits behind is taken away there.
        if self.base.home.waiting_flag().is_set() || self.base.store()?.any_waiting()? {
            self.reconcile_unsettled()?;
            self.pump_queue();
        }
        Hooks::on(self.base).fire_hooks()?;
        Retention::on(self.base).purge_if_due()
    }
}
