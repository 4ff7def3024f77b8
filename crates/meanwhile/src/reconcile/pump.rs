//! Starts queued tasks that may start.

use mw_model::TaskId;
use mw_model::signal::SIGTERM;
use mw_model::wire::Operation;

use super::Reconciler;
use crate::queue::Queue;
use crate::supervisor::control::Connection;

/// The requester of that end.
const NEXT_RUN: &str = "the next run";

impl Reconciler<'_> {
    /// Starts queued tasks that may start. Failures are recorded with their tasks.
    pub(crate) fn pump_queue(&self) {
        // If slots may still be held by unsupervised tasks, adopts those and tries once more.
        if self.pump_once() && self.reconcile_unsettled().is_ok() {
            let _ = self.pump_once();
        }
    }

    /// Asks a supervisor to end the processes that the last run of a task has left behind, because the next run is due. When
    /// they are gone, the supervisor exits, and the run starts.
    fn end_last_run(&self, id: &TaskId) {
        let Ok(mut connection) = Connection::connect(&self.base.home, id) else { return };
        let _ = connection.send(Operation::Kill { by: NEXT_RUN.to_owned(), signal: SIGTERM, grace_ms: None });
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
        picked.to_clear.iter().for_each(|id| self.end_last_run(id));
        let freed = self.launch_all(picked.to_launch);
        if changed {
            self.base.database.announce();
        }
        // A skipped task may release the tasks after it.
        if freed || again { self.pump_once() } else { untended }
    }
}
