//! Runs tasks once more.

use meanwhile::Result;
use meanwhile::model::TaskState;

use super::tally::Tally;
use crate::desk::Desk;

/// What came of running tasks once more.
#[derive(Debug, Default)]
pub struct Restarted {
    /// How each stands now, or why it could not be run, by its id as it was named.
    pub tasks: Vec<(String, Result<Again>)>,
}

/// How a task stands that was to run once more.
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
    /// Says what came of it.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let mut tally = Tally::default();
        for (id, again) in &self.tasks {
            match again {
                Ok(Again::Queued { run }) => {
                    tally.note("waiting for a slot", format!("{id} waits for a slot, run {run}"));
                }
                Ok(Again::NotStarted { cause }) => {
                    tally.note("not started", format!("{id} did not start: {cause}"));
                }
                Ok(Again::Running { run }) => {
                    tally.note("running again", format!("{id} runs again, run {run}"));
                }
                Err(error) => tally.not_done(id, error),
            }
        }
        tally.lines()
    }
}

impl Desk {
    /// Runs tasks once more.
    ///
    /// # Errors
    /// When it fails for the only one, or the home cannot be opened.
    pub fn restart(&self, ids: &[String]) -> Result<Restarted> {
        self.with(|runtime| {
            let mut restarted = Restarted::default();
            for id in ids {
                let again = runtime.restart(id, &self.scope()).map(|task| Again::of(&task.state));
                if ids.len() == 1 && again.is_err() {
                    return again.map(|_| restarted);
                }
                restarted.tasks.push((id.clone(), again));
            }
            Ok(restarted)
        })
    }
}
