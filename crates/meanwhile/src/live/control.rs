//! Requests to the supervisor of a running task.

use std::io;
use std::time::Duration;

use mw_model::TaskId;
use mw_model::wire::{ControlReply, Operation};

use super::Live;
use crate::error::{Error, Result};
use crate::supervisor::control::Connection;

impl Live<'_> {
    pub(super) fn control(&self, id: &TaskId, operation: Operation) -> Result<ControlReply> {
        let failed = |error: io::Error| Error::Unresponsive {
            id: id.clone(),
            message: match error.kind() {
                io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
                    "its supervisor does not answer; it may be stopped".to_owned()
                }
                _ => format!("cannot reach its supervisor: {error}"),
            },
        };
        let mut connection = Connection::connect_patiently(&self.base.home, id).map_err(failed)?;
        let _ = connection.set_timeout(Some(Duration::from_secs(5)));
        connection.ask(operation).map_err(failed)
    }

    /// Returns the live processes of a task, as its supervisor sees them; empty if the supervisor cannot be reached.
    #[must_use]
    pub fn processes_of(&self, id: &TaskId) -> Vec<u32> {
        self.control(id, Operation::Status).ok().and_then(pids_of).unwrap_or_default()
    }
}

/// Returns the process ids in a supervisor's reply.
pub(super) fn pids_of(reply: ControlReply) -> Option<Vec<u32>> {
    match reply {
        // A supervisor of an older version lists processes without their tree.
        ControlReply::Status { pids, tree, .. } if pids.is_empty() => {
            Some(tree.iter().map(|process| process.pid).collect())
        }
        ControlReply::Status { pids, .. } => Some(pids),
        _ => None,
    }
}
