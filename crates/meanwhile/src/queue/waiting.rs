//! What a task waits for: the tasks it follows, a person, or input.

use std::fs;

use mw_model::wire::{JournalEntry, LOG_FILE};
use mw_model::{SlotGroup, TaskState, Timestamp, is_due};

use super::session_end::SessionEndAction;
use crate::disk::slots::Pool;
use crate::error::Result;
use crate::queue::Queue;
use crate::task::Task;

/// Why a queued task does not run yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QueueReason {
    /// Other tasks must end first; their names.
    Tasks(String),
    /// It is not due yet.
    NotBefore(Timestamp),
    /// Processes of its last run are still alive.
    LastRun,
    /// Its session has no holder now.
    NoHolder,
    /// So many tasks of its session run, and more are not allowed.
    SessionLimit(u32),
    /// So many tasks run, and more are not allowed.
    TotalLimit(u32),
    /// So many tasks of its group run, and more are not allowed.
    GroupLimit(SlotGroup),
    /// Nothing: it starts as soon as a process looks at the queue.
    Nothing,
}

impl Queue<'_> {
    /// Returns why a queued task does not run yet.
    ///
    /// # Errors
    /// When the database fails.
    pub fn reason(&self, task: &Task) -> Result<QueueReason> {
        if let Some(not_before) = task.not_before
            && !is_due(task.schedule.as_deref(), &task.state, self.base.clock.now())
        {
            return Ok(QueueReason::NotBefore(not_before));
        }
        if self.awaits_last_run(task)? {
            return Ok(QueueReason::LastRun);
        }
        if let Some(names) = &task.waiting_for {
            return Ok(QueueReason::Tasks(names.clone()));
        }
        if self.fate(task, self.held(&task.session))? != SessionEndAction::Continue {
            return Ok(QueueReason::NoHolder);
        }
        let (limits, pool) = (self.limits_of_waiting(task)?, Pool::of(task.kind));
        let store = self.base.database.store()?;
        if store.running(Some(&task.session), Some(pool))? >= pool.limit(&limits) {
            return Ok(QueueReason::SessionLimit(pool.limit(&limits)));
        }
        let most = limits.max_running_total;
        if most > 0 && store.running(None, None)? >= most {
            return Ok(QueueReason::TotalLimit(most));
        }
        match limits.group {
            Some(group) if store.running_in_group(&group.name)? >= group.max => {
                Ok(QueueReason::GroupLimit(group))
            }
            Some(_) | None => Ok(QueueReason::Nothing),
        }
    }

    /// Adds to a task what it waits for.
    pub fn add_waiting(&self, task: &mut Task) -> Result<()> {
        match &task.state {
            TaskState::Pending { .. } => {
                let mut names = Vec::new();
                for dependency in &task.after {
                    let before = self.base.database.store()?.task(&dependency.id)?;
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
