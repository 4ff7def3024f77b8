//! Restarts tasks.

use meanwhile::Result;
use meanwhile::model::TaskState;

use super::tally::Tally;
use crate::desk::Desk;

impl Desk {
    /// Restarts tasks. Returns a description of the result.
    ///
    /// # Errors
    /// Fails if a single task cannot be restarted, or the home directory cannot be opened.
    pub fn restart(&self, ids: &[String]) -> Result<Vec<String>> {
        self.with(|runtime| {
            let mut tally = Tally::default();
            for id in ids {
                let task = match runtime.starts().restart(id, &self.scope()) {
                    Ok(task) => task,
                    Err(error) if ids.len() == 1 => return Err(error),
                    Err(error) => {
                        tally.failed(id, &error);
                        continue;
                    }
                };
                match &task.state {
                    TaskState::Pending { run, .. } => {
                        tally.note("queued", format!("{id} queued, run {run}"));
                    }
                    TaskState::Ended { started_at: None, cause, .. } => {
                        tally.note("not started", format!("{id} did not start: {}", cause.to_words()));
                    }
                    // The new run has started, and may already have ended.
                    TaskState::Starting { run, .. }
                    | TaskState::Running { run, .. }
                    | TaskState::Cancelling { run, .. }
                    | TaskState::Ended { run, .. } => {
                        tally.note("restarted", format!("{id} restarted, run {run}"));
                    }
                }
            }
            Ok(tally.lines())
        })
    }
}
