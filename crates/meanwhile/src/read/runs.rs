//! All runs of a task, for callers that show its history.

use mw_model::wire::{ExitRecord, SentSignal, Survivor};
use mw_model::{Status, Timestamp};

use crate::read::Reader;
use crate::redact::Redaction;
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
    /// The signals that it got from meanwhile until it ended.
    pub signals: Vec<SentSignal>,
    /// The processes that it left behind, without secrets.
    pub left_behind: Vec<Survivor>,
}

impl Reader<'_> {
    /// Returns the newest runs of a task that have started, at most `most`, oldest first. A run without a readable
    /// record is left out.
    #[must_use]
    pub fn runs(&self, task: &Task, most: u32) -> Vec<TaskRun> {
        let present = task.state.run();
        let first = present.saturating_sub(most).saturating_add(1).max(1);
        let directory = self.base.home.task(&task.id);
        let mut runs: Vec<_> = (first..present)
            .filter_map(|number| {
                let record = directory.earlier_result(number).ok()??;
                let (started_at, status) = (record.started_at?, record.cause().status());
                let (signals, left_behind) = self.kill_of(task, Some(&record));
                let ended_at = Some(record.completed_at);
                Some(TaskRun { number, started_at, ended_at, status, signals, left_behind })
            })
            .collect();
        let current = |started_at| {
            let record = task.ended_at.and_then(|_| directory.result(present).ok()?);
            let (signals, left_behind) = self.kill_of(task, record.as_ref());
            let (ended_at, status) = (task.ended_at, task.status);
            TaskRun { number: present, started_at, ended_at, status, signals, left_behind }
        };
        runs.extend(task.state.started_at().map(current));
        runs
    }

    /// Returns what was sent to a run, and what was left of it.
    fn kill_of(&self, task: &Task, record: Option<&ExitRecord>) -> (Vec<SentSignal>, Vec<Survivor>) {
        let Some(record) = record else { return Default::default() };
        let mut left_behind = record.survivors.clone();
        if !left_behind.is_empty() {
            let redactor = Redaction::on(self.base).redactor(&task.id);
            for process in &mut left_behind {
                process.command = redactor.text(&process.command).into_owned();
            }
        }
        (record.signals.clone(), left_behind)
    }
}
