//! The end of one task through its supervisor, without the database.

use std::time::Duration;

use mw_model::TaskId;
use mw_model::wire::{ControlReply, KillReceipt};
use rustix::event::{PollFd, PollFlags};

use super::KillRequest;
use super::conversation::KillConversation;
use crate::base::Directories;
use crate::disk::platform;
use crate::fail_point::fail_point;
use crate::supervisor::control::{Connection, NEW_SUPERVISOR};

/// How often a supervisor that has not answered is checked.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

impl Directories {
    /// Ends a running task and returns the receipt when all of its processes are dead. `None` if its supervisor did not do it:
    /// [`Live::kill_all`](crate::engine::Live::kill_all) may ask again and handles every other case.
    #[must_use]
    pub fn kill(&self, id: &TaskId, request: &KillRequest) -> Option<KillReceipt> {
        // Processes may keep an agent alive, and a freed slot may belong to a queued task.
        if id.is_of_agent() || self.home.is_waiting_noted() {
            return None;
        }
        let connect = || Connection::connect(&self.home, id);
        // The supervisor of a task that was just started does not listen yet.
        let mut connection = Connection::connect_within(&self.home, id, NEW_SUPERVISOR).ok()?;
        connection.send(request.operation()).ok()?;
        fail_point("kill-sent");
        let mut conversation = KillConversation::on(connection);
        loop {
            match conversation.answer() {
                Some(Ok(ControlReply::Killed { receipt }))
                    if request.ends() && receipt.of_ended_run() && self.may_run_again(id) =>
                {
                    return None;
                }
                Some(Ok(ControlReply::Killed { mut receipt })) => {
                    self.redactor(id).receipt(&mut receipt);
                    return Some(receipt);
                }
                Some(_) => return None,
                None if conversation.unresponsive_supervisor(connect).is_some() => return None,
                None => {}
            }
            let descriptors = conversation.connections();
            let mut descriptors: Vec<_> =
                descriptors.map(|connection| PollFd::new(connection, PollFlags::IN)).collect();
            platform::poll_within(&mut descriptors, POLL_INTERVAL);
        }
    }

    fn may_run_again(&self, id: &TaskId) -> bool {
        let spec = self.home.task(id).spec();
        spec.is_ok_and(|spec| spec.schedule.is_some_and(|schedule| schedule.may_run_again()))
    }
}
