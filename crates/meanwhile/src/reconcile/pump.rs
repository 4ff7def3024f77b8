//! Starts queued tasks that may start.

use super::Reconciler;
use crate::queue::Queue;

impl Reconciler<'_> {
    /// Starts queued tasks that may start. Failures are recorded with their tasks.
    pub(crate) fn pump_queue(&self) {
        // If slots may still be held by unsupervised tasks, adopts those and tries once more.
        if self.pump_once() && self.reconcile_unsettled().is_ok() {
            let _ = self.pump_once();
        }
    }

    /// Does one pass. Returns whether tasks stayed queued because an unsupervised task may still hold a slot that
    /// looks free.
    fn pump_once(&self) -> bool {
        let queue = Queue::on(self.base);
        let picked = queue.change(|transaction| {
            self.base.home.note_waiting()?;
            queue.pick_everywhere(transaction)
        });
        let Ok(picked) = picked else { return false };
        let (again, untended) = (picked.any_ended, picked.any_untended);
        let changed = again || !picked.to_launch.is_empty();
        let freed = self.launch_all(picked.to_launch);
        if changed {
            self.base.database.announce();
        }
        // A skipped task may release the tasks after it.
        if freed || again { self.pump_once() } else { untended }
    }
}
