//! What there is to do when a task has ended: start the next, run hooks, remove what is old.

use mw_model::{TaskId, TaskKind, TaskState};

use crate::error::Result;
use crate::fail_point::fail_point;
use crate::queue::next;
use crate::queue::next::Granted;
use crate::runtime::Runtime;

impl Runtime {
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
            let store = self.durable()?;
            let transaction = store.begin(&self.home.tasks())?;
            self.home.note_waiting()?;
            let picked = self.pick_everywhere(&transaction)?;
            next::commit(&self.home, transaction)?;
            Ok(picked)
        })();
        let Ok(picked) = picked else { return false };
        let (again, untended) = (picked.any_ended, picked.any_untended);
        let changed = again || !picked.to_launch.is_empty();
        let freed = self.launch_all(picked.to_launch);
        if changed {
            self.ring();
        }
        // A skipped task may free those that come after it.
        if freed || again { self.pump_once() } else { untended }
    }

    /// Launches all; tells whether slots are free again, because a launch failed or was not needed. Failures are
    /// recorded with their tasks.
    pub(crate) fn launch_all(&self, to_launch: Vec<Granted>) -> bool {
        let mut freed = false;
        for granted in to_launch {
            match self.launch(granted) {
                // Another supervisor has it, and its own slots.
                Ok(task) if matches!(task.state, TaskState::Starting { .. }) => {
                    let _ = self.reconcile_task(&task.id);
                    freed = true;
                }
                Ok(_) => {}
                // What was killed on the way waits for the next command; trying at once might never end.
                Err(error) if error.is_for_now() => {}
                Err(_) => freed = true,
            }
        }
        freed
    }

    /// What a supervisor does as its last act: records the ending, starts the next, runs hooks, and removes now and
    /// then what nobody needs any more. Without a task, it does so for all.
    ///
    /// # Errors
    /// When the database fails; the next command does the same work.
    pub fn settle(&self, id: Option<&TaskId>) -> Result<()> {
        fail_point("settle-begun");
        self.settles_itself.set(true);
        match id {
            Some(id) => {
                self.reconcile_task(id)?;
                if id.as_str().starts_with(TaskKind::Agent.prefix()) {
                    let task = self.stored(id)?;
                    if task.status.is_terminal() {
                        self.release_children(&task)?;
                    }
                }
            }
            None => self.reconcile()?,
        }
        // A flag that nobody waits behind is taken away there.
        if self.home.waiting_flag().is_set() || self.store()?.any_waiting()? {
            self.reconcile_unsettled()?;
            self.pump_queue();
        }
        self.fire_hooks()?;
        self.purge_if_due()
    }
}
