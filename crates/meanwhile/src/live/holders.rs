//! Informs supervisors that the holders of a session have changed.

use mw_model::wire::Operation;

use crate::error::Result;
use crate::live::Live;
use crate::supervisor::control::Connection;

impl Live<'_> {
    /// Asks the supervisors of a session's running tasks to look for the session's holders again.
    pub(crate) fn announce_holders(&self, session: &str) -> Result<()> {
        for task in self.base.database.store()?.tasks_of(session)? {
            // A queued task may already run while the database still says that it is starting.
            if task.state.holds_slot()
                && let Ok(mut connection) = Connection::connect(&self.base.home, &task.id)
            {
                // A task that cannot be reached is just starting or ending, and looks for holders itself.
                let _ = connection.ask(Operation::LookForHosts);
            }
        }
        Ok(())
    }
}
