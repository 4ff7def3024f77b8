//! Removes finished tasks.

use meanwhile::Result;
use meanwhile::engine::Retained;
use meanwhile::model::TaskId;

use super::outcome::Failure;
use super::tally::Tally;
use super::wanted::Removal;
use crate::desk::Desk;
use crate::query::filter;

/// The result of removing tasks.
#[derive(Debug, Default)]
pub struct Cleared {
    /// Those that are gone.
    pub removed: Vec<TaskId>,
    /// Those that were kept, and why.
    pub kept: Vec<Retained>,
    /// Those that were not found.
    pub failures: Vec<Failure>,
}

impl Cleared {
    /// Describes the result.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let mut tally = Tally::default();
        self.failures.iter().for_each(|failure| tally.failed(failure));
        self.removed.iter().for_each(|_| tally.add("removed"));
        let kept = self.kept.iter();
        kept.for_each(|kept| tally.note("kept", format!("kept {}: {}", kept.id, kept.reason)));
        tally.lines()
    }
}

impl Desk {
    /// Removes tasks that have ended, with their logs. Those that live are kept.
    ///
    /// # Errors
    /// When the home cannot be read or written.
    pub fn clear(&self, removal: &Removal) -> Result<Cleared> {
        self.with(|runtime| {
            let mut failures = Vec::new();
            let ids = match removal {
                Removal::These(ids) => {
                    let mut found = Vec::new();
                    for id in ids {
                        match runtime.lookup().resolve(id, &self.scope()) {
                            Ok(task) => found.push(task),
                            Err(error) => failures.push(Failure { id: id.clone(), error }),
                        }
                    }
                    found
                }
                Removal::Ended(query) => {
                    let ended = runtime.retention().finished(&filter(query, &self.scope()), None)?;
                    ended.into_iter().map(|task| task.id).collect()
                }
            };
            let report = runtime.retention().clear(&ids, None)?;
            Ok(Cleared { removed: report.cleared, kept: report.kept, failures })
        })
    }
}
