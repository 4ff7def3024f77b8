//! Telling supervisors who holds a session.

use mw_model::wire::Operation;

use crate::disk::task_dir::control::Line;
use crate::error::Result;
use crate::live::Live;

impl Live<'_> {
    /// Tells a session's running tasks that who holds it has changed.
    pub(crate) fn announce_holders(&self, session: &str) -> Result<()> {
        for task in self.base.store()?.tasks_of(session)? {
            // One that was queued may run already while the database says that it is being started.
            if task.state.holds_slot()
                && let Ok(mut line) = Line::connect(&self.base.home, &task.id)
            {
                // One that cannot be reached is just starting or ending, and looks by itself.
                let _ = line.ask(Operation::LookForHosts);
            }
        }
        Ok(())
    }
}
