//! Restarts tasks.

use meanwhile::Result;
use meanwhile::model::TaskState;

use super::tally::Tally;
use crate::desk::Desk;

/// The result of restarting tasks.
#[derive(Debug, Default)]
pub struct Restarted {
    /// The new state of each task, or why it could not be restarted, by its id as given.
    pub tasks: Vec<(String, Result<Again>)>,
}

/// The state of a restarted task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Again {
    /// It waits for a slot.
    Queued {
        /// Which run that is.
        run: u32,
    },
    /// It runs, or has already.
    Running {
        /// Which run that is.
        run: u32,
    },
    /// It could not be started.
    NotStarted {
        /// Why, in words.
        cause: String,
    },
}

impl Again {
    fn of(state: &TaskState) -> Self {
        match state {
            TaskState::Pending { run, .. } => Self::Queued { run: *run },
            TaskState::Ended { started_at: None, cause, .. } => Self::NotStarted { cause: cause.to_words() },
            TaskState::Starting { run, .. }
            | TaskState::Running { run, .. }
            | TaskState::Cancelling { run, .. }
            | TaskState::Ended { run, .. } => Self::Running { run: *run },
        }
    }
}

impl Restarted {
    /// Describes the result.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let mut tally = Tally::default();
        for (id, again) in &self.tasks {
            match again {
                Ok(Again::Queued { run }) => {
                    tally.note("queued", format!("{id} queued, run {run}"));
                }
                Ok(Again::NotStarted { cause }) => {
                    tally.note("not started", format!("{id} did not start: {cause}"));
                }
                Ok(Again::Running { run }) => {
                    tally.note("restarted", format!("{id} restarted, run {run}"));
                }
                Err(error) => tally.not_done(id, error),
            }
        }
        tally.lines()
    }
}

impl Desk {
    /// Runs tasks again.
    ///
    /// # Errors
    /// When it fails for the only one, or the home cannot be opened.
    pub fn restart(&self, ids: &[String]) -> Result<Restarted> {
        self.with(|runtime| {
            let mut restarted = Restarted::default();
            for id in ids {
                let again = runtime.starts().restart(id, &self.scope()).map(|task| Again::of(&task.state));
                if ids.len() == 1 && again.is_err() {
                    return again.map(|_| restarted);
                }
                restarted.tasks.push((id.clone(), again));
            }
            Ok(restarted)
        })
    }
}
