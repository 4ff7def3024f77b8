//! Inspects a task's directory and its processes.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use mw_model::wire::{JournalEntry, JournalLine};
use mw_model::{Process, TaskState, Timestamp};

use super::findings::{Findings, Looker, nobody};
use super::stores::Database;
use crate::disk::optional_file;
use crate::disk::platform;
use crate::error::{Error, Result};
use crate::fail_point::fail_point;
use crate::task::Task;

impl Database {
    /// Inspects a task's directory.
    pub(crate) fn look_at(&self, task: &Task) -> Result<Findings> {
        self.look_as(task, Looker::Anybody)
    }

    /// Returns whether a task that has not ended in the database has an exit record. Most have none, which one look shows.
    pub(super) fn has_record(&self, task: &Task) -> Result<bool> {
        let is_over = matches!(task.state, TaskState::Ended { .. });
        Ok(!is_over && self.home.task(&task.id).result(task.state.run())?.is_some())
    }

    /// Returns whether a task runs under a supervisor, with nothing new to record. In the order of [`Database::look_at`].
    pub(crate) fn runs_unchanged(&self, task: &Task) -> Result<bool> {
        let directory = self.home.task(&task.id);
        let is_running = matches!(task.state, TaskState::Running { .. } | TaskState::Cancelling { .. });
        Ok(is_running
            && directory.is_supervised()?
            && directory.result(task.state.run())?.is_none()
            && directory.journal()?.len() as u64 == task.journal_seen)
    }

    /// Like [`Database::look_at`], for the process that was starting the task and has given up: it holds the start lock
    /// itself.
    pub(crate) fn look_at_own_start(&self, task: &Task) -> Result<Findings> {
        self.look_as(task, Looker::Starter)
    }

    /// Inspects in this order, because a supervisor writes its record before it releases its lock.
    fn look_as(&self, task: &Task, looker: Looker) -> Result<Findings> {
        let directory = self.home.task(&task.id);
        let being_started = looker == Looker::Anybody && directory.is_being_started()?;
        let supervised = directory.is_supervised()?;
        let record = directory.result(task.state.run())?;
        let journal = directory.journal()?;
        let seen = journal.len() as u64;
        let run = task.state.run();
        let had_ended = record.is_some() || matches!(task.state, TaskState::Ended { .. });
        let mut findings = Findings {
            run,
            journal,
            seen,
            record,
            supervised,
            being_started,
            looker,
            had_ended,
            has_orphans: false,
        };
        findings.has_orphans = self.has_orphans(task, &findings)?;
        fail_point("task-looked-at");
        Ok(findings)
    }

    /// Returns, inside the transaction, whether the start is still abandoned.
    pub(super) fn is_still_abandoned(&self, task: &Task, before: &Findings) -> Result<bool> {
        let now = self.look_as(task, before.looker)?;
        Ok(now.is_abandoned() && now.started(task.state.run()).is_none())
    }

    /// Returns whether processes of an ended task are still running without a supervisor.
    fn has_orphans(&self, task: &Task, findings: &Findings) -> Result<bool> {
        let run = task.state.run();
        let had_some = match &findings.record {
            Some(record) => !record.survivors.is_empty(),
            None => matches!(task.state, TaskState::Ended { .. }) && task.survivors > 0,
        };
        if findings.supervised || !had_some || findings.tree_empty(run).is_some() {
            return Ok(false);
        }
        let process = findings.record.as_ref().and_then(|record| record.process.clone());
        let process = process.or_else(|| Some(findings.begun(run)?.0)).unwrap_or_else(nobody);
        self.lives(task, &process, &findings.journal)
    }

    /// Returns whether any process of a task's current run is alive: its first process, one with its mark in the
    /// environment, or one in its control group.
    pub(crate) fn lives(&self, task: &Task, first: &Process, journal: &[JournalLine]) -> Result<bool> {
        let failed = || Error::io(format!("cannot look for the processes of {}", task.id));
        if !platform::tree_of(task.id.as_str(), first).map_err(failed())?.is_empty() {
            return Ok(true);
        }
        let run = task.state.run();
        let group = journal.iter().filter(|line| line.run == run).find_map(|line| match &line.entry {
            JournalEntry::Spawning { cgroup, .. } => cgroup.as_ref(),
            _ => None,
        });
        let Some(group) = group else { return Ok(false) };
        let members = Path::new(OsStr::from_bytes(group.as_bytes())).join("cgroup.procs");
        Ok(optional_file::read(&members)?.is_some_and(|members| !members.is_empty()))
    }

    pub(crate) fn boot_time(&self) -> Timestamp {
        Timestamp::from_micros(self.clock.now().as_micros() - platform::uptime_us())
    }

    /// Shows an end that is on disk but not in the database yet. Unreadable files change nothing.
    pub(crate) fn overlay(&self, task: &mut Task) {
        if task.state.process().is_some()
            && let Ok(Some(record)) = self.home.task(&task.id).result(task.state.run())
        {
            task.show_record(&record);
        }
    }
}
