//! All runs of a task, for callers that show its history.

use mw_model::{Status, Timestamp};

use crate::read::Reader;
use crate::task::Task;

/// One run of a task, from its start to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskRun {
    /// Its number, from 1.
    pub number: u32,
    /// When it began.
    pub started_at: Timestamp,
    /// When it ended; `None` while it is running.
    pub ended_at: Option<Timestamp>,
    /// How it ended, or its current status.
    pub status: Status,
}

impl Reader<'_> {
    /// Returns the newest runs of a task that have started, at most `most`, oldest first. A run without a readable
    /// record is left out.
    #[must_use]
    pub fn runs(&self, task: &Task, most: u32) -> Vec<TaskRun> {
        let present = task.state.run();
        let first = present.saturating_sub(most).saturating_add(1).max(1);
        let mut runs: Vec<_> = (first..present)
            .filter_map(|number| {
                let record = self.base.home.task(&task.id).earlier_result(number).ok()??;
                let started_at = record.started_at?;
                let status = record.cause().status();
                Some(TaskRun { number, started_at, ended_at: Some(record.completed_at), status })
            })
            .collect();
        let (ended_at, status) = (task.ended_at, task.status);
        let current = |started_at| TaskRun { number: present, started_at, ended_at, status };
        runs.extend(task.state.started_at().map(current));
        runs
    }
}
