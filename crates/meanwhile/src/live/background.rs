//! Moving a command from the foreground to the background.

use std::fs;

use mw_model::{Event, TaskId, TaskState};

use crate::database::change::Changing;
use crate::disk::log_names;
use crate::error::{Error, Result};
use crate::live::Live;
use crate::reconcile::Reconciler;
use crate::redact::Redaction;
use crate::task::Task;

/// Marks a task whose foreground wait should stop.
const MOVED_FILE: &str = "moved";

impl Live<'_> {
    /// Asks the process that waits for the end of a task to stop waiting. The task itself is not affected. It keeps
    /// running, and its end produces a notification like that of any background task.
    ///
    /// # Errors
    /// When the task is unknown, or its directory cannot be written.
    pub fn move_to_background(&self, id: &TaskId) -> Result<()> {
        Reconciler::on(self.base).current(id)?;
        let mark = self.base.home.task(id).join(MOVED_FILE);
        fs::write(mark, []).map_err(Error::io("cannot mark the task"))?;
        self.base.database.announce();
        Ok(())
    }

    /// Turns a foreground task into a background task: it gets its short handle, and hooks report it from now on. A
    /// task that has ended, or is in the background already, does not change.
    ///
    /// # Errors
    /// When the task is unknown, or the database or the task's files cannot be written.
    pub fn continue_in_background(&self, id: &TaskId) -> Result<Task> {
        Reconciler::on(self.base).reconcile_task(id)?;
        let task = self.base.database.change(id, |changing| {
            self.make_background(changing)?;
            Ok(changing.task().clone())
        })?;
        log_names::link_log(&self.base.home, &task);
        Ok(Redaction::on(self.base).without_secrets(task))
    }

    fn make_background(&self, changing: &mut Changing<'_>) -> Result<()> {
        let task = changing.task();
        if task.handle_number.is_some() || matches!(task.state, TaskState::Ended { .. }) {
            return Ok(());
        }
        let context = task.context.as_deref();
        let last = || Ok(changing.transaction().last_handle_number(&task.session, context)?);
        let handle_number = self.base.home.session(&task.session).take_handle_number(context, last)?;
        changing.set_handle_number(handle_number)?;
        if !matches!(changing.task().state, TaskState::Pending { .. }) {
            changing.apply(&Event::MovedToBackground { handle_number })?;
        }
        // Before the commit, because a rebuilt database reads the number from the directory.
        let grace_ms = self.base.settings.session_grace_ms();
        self.base.home.store_owner(changing.task(), grace_ms).map(drop)
    }

    /// Returns whether a caller asked to move the task to the background.
    #[must_use]
    pub fn is_moved_to_background(&self, id: &TaskId) -> bool {
        self.base.home.task(id).join(MOVED_FILE).exists()
    }
}
