//! Removes finished tasks.

use meanwhile::Result;

use super::tally::Tally;
use super::task_action::Removal;
use crate::desk::Desk;
use crate::query::filter;

impl Desk {
    /// Removes ended tasks with their logs. Live tasks are kept. Returns a description of the result.
    ///
    /// # Errors
    /// Fails if the home directory cannot be read or written.
    pub fn clear(&self, removal: &Removal) -> Result<Vec<String>> {
        self.with(|runtime| {
            let mut tally = Tally::default();
            let ids = match removal {
                Removal::These(ids) => {
                    let mut found = Vec::new();
                    for id in ids {
                        match runtime.lookup().resolve(id, &self.scope()) {
                            Ok(task) => found.push(task),
                            Err(error) => tally.failed(id, &error),
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
            report.cleared.iter().for_each(|_| tally.add("removed"));
            for kept in &report.kept {
                tally.note("kept", format!("kept {}: {}", kept.id, kept.reason));
            }
            Ok(tally.lines())
        })
    }
}
