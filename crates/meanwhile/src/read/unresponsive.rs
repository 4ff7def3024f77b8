//! Supervisors that do not answer, so that showing tasks does not wait for them.

use mw_model::TaskId;
use mw_model::wire::{ControlReply, Operation};

use crate::read::Tasks;
use crate::supervisor::control::Connection;
use crate::task::Task;

impl Tasks<'_> {
    /// Asks a supervisor for the status of its task; `None` if it does not answer soon.
    pub(crate) fn supervisor_status(&self, id: &TaskId) -> Option<ControlReply> {
        if self.base.unresponsive.has(id) {
            return None;
        }
        let timeout = self.base.unresponsive.timeout();
        let reply = Connection::connect_within(&self.base.home, id, timeout).and_then(|mut connection| {
            connection.set_timeout(Some(timeout))?;
            connection.ask(Operation::Status)
        });
        // A supervisor that has exited meanwhile is not unresponsive.
        if reply.is_err() && self.base.home.task(id).is_supervised().unwrap_or(true) {
            self.base.unresponsive.note(id);
        }
        reply.ok()
    }

    /// Marks a task whose supervisor did not answer.
    pub(crate) fn mark_unresponsive(&self, task: &mut Task) {
        if task.untended.is_none() && self.base.unresponsive.has(&task.id) {
            task.untended = Some("its supervisor does not answer".to_owned());
        }
    }
}
