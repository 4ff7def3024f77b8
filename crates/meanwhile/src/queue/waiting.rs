//! What a task waits for: the tasks it follows, a person, or input.

use std::fs;

use mw_model::wire::{JournalEntry, LOG_FILE};
use mw_model::{TaskState, Timestamp};

use crate::error::Result;
use crate::queue::Queue;
use crate::task::Task;

impl Queue<'_> {
    /// Adds to a task what it waits for.
    pub(crate) fn add_waiting(&self, task: &mut Task) -> Result<()> {
        match &task.state {
            TaskState::Pending { .. } => {
                let mut names = Vec::new();
                for id in &task.after {
                    let before = self.base.database.store()?.task(id)?;
                    names.extend(
                        before.filter(|before| !before.status.is_terminal()).map(|it| it.short_name()),
                    );
                }
                task.waiting_for = (!names.is_empty()).then(|| names.join(", "));
            }
            TaskState::Running { .. } => {
                let asks = task.agent.as_ref().and_then(|agent| agent.activity.waiting.clone());
                let stall = if asks.is_none() { self.stall(task) } else { None };
                task.stalled = stall.as_ref().map(|(at, _)| *at);
                task.waiting_for = asks.or_else(|| stall.map(|(_, prompt)| prompt));
            }
            TaskState::Starting { .. } | TaskState::Cancelling { .. } | TaskState::Ended { .. } => {}
        }
        Ok(())
    }

    /// Returns since when a running task has waited for input, and its last line, if it has printed nothing since.
    fn stall(&self, task: &Task) -> Option<(Timestamp, String)> {
        let journal = self.base.home.task(&task.id).journal().ok()?;
        let stalled = journal.into_iter().rev().filter(|line| line.run == task.state.run()).find_map(
            |line| match line.entry {
                JournalEntry::Stalled { prompt } => Some((line.at, prompt)),
                _ => None,
            },
        )?;
        let log = fs::metadata(self.base.home.task(&task.id).join(LOG_FILE)).ok()?;
        let printed = Timestamp::from(log.modified().ok()?);
        (printed <= stalled.0).then_some(stalled)
    }
}
