//! Inspects task directories and records what they show.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use mw_model::wire::{ExitRecord, JournalEntry, JournalLine};
use mw_model::{Cause, Event, Process, TaskId, TaskState, Timestamp};

use super::Records;
use super::ending::end_unsupervised;
use crate::disk::look;
use crate::disk::platform;
use crate::disk::store::{Change, Transaction};
use crate::disk::task_dir::log_view::{LogView, StreamChoice};
use crate::error::{Error, Result};
use crate::fail_point::fail_point;
use crate::task::{Task, ended_by};

/// What a task's directory shows.
pub(crate) struct Findings {
    /// The run that was inspected.
    pub(crate) run: u32,
    pub(crate) journal: Vec<JournalLine>,
    /// Journal lines of earlier runs and of this one, read before the rest was inspected.
    pub(crate) seen: u64,
    pub(crate) record: Option<ExitRecord>,
    pub(crate) supervised: bool,
    pub(crate) being_started: bool,
    /// Whether this process was starting it and has given up, but still holds the lock of the start.
    pub(crate) given_up: bool,
    /// Whether it has ended, some of its processes are still running, and they have no supervisor.
    pub(crate) left: bool,
}

impl Findings {
    /// Returns why the command of a run was not executed, if its supervisor recorded it.
    pub(crate) fn not_executed(&self, run: u32) -> Option<&str> {
        self.journal.iter().filter(|line| line.run == run).find_map(|line| match &line.entry {
            JournalEntry::NotExecuted { message } => Some(message.as_str()),
            _ => None,
        })
    }

    /// Returns the first process of a run and its start time, if its supervisor recorded them.
    pub(crate) fn begun(&self, run: u32) -> Option<(Process, Timestamp)> {
        self.journal.iter().filter(|line| line.run == run).find_map(|line| match &line.entry {
            JournalEntry::Started { process, started_at } => Some((process.clone(), *started_at)),
            _ => None,
        })
    }

    /// Returns the output counts if the run's supervisor saw all of its processes end: all bytes, and the dropped ones.
    pub(crate) fn tree_empty(&self, run: u32) -> Option<(Option<u64>, Option<u64>)> {
        self.journal.iter().filter(|line| line.run == run).find_map(|line| match &line.entry {
            JournalEntry::TreeEmpty { output_bytes, dropped_bytes } => Some((*output_bytes, *dropped_bytes)),
            _ => None,
        })
    }

    pub(crate) fn started(&self, run: u32) -> Option<(Process, Timestamp)> {
        let known = self.begun(run);
        if self.supervised || self.not_executed(run).is_some() {
            return known;
        }
        // A process was killed just before it executed the command: it may run under a pid that was not recorded.
        known.or_else(|| self.journal.iter().find(|line| line.run == run).map(|line| (nobody(), line.at)))
    }

    /// Tells whether a start led to nothing, and no process continues it. This may change before the transaction that acts on
    /// it, so it is checked again there.
    pub(crate) const fn is_abandoned(&self) -> bool {
        !self.supervised && !self.being_started && self.record.is_none()
    }

    /// Tells whether a run was started, has no record, and has no supervisor.
    pub(crate) fn is_untended(&self, run: u32) -> bool {
        !self.supervised
            && self.record.is_none()
            && self.not_executed(run).is_none()
            && self.started(run).is_some()
    }
}

/// A process that was not recorded.
pub(crate) const fn nobody() -> Process {
    Process { pid: 0, start_ticks: 0, boot_id: String::new() }
}

impl Records<'_> {
    /// Inspects in this order, because a supervisor writes its record before it releases its lock.
    pub(crate) fn look_at(&self, task: &Task) -> Result<Findings> {
        let being_started = self.base.home.task(&task.id).is_being_started()?;
        let supervised = self.base.home.task(&task.id).is_supervised()?;
        let record = self.base.home.task(&task.id).result(task.state.run())?;
        let journal = self.base.home.task(&task.id).journal()?;
        let seen = journal.len() as u64;
        let run = task.state.run();
        let mut findings =
            Findings { run, journal, seen, record, supervised, being_started, given_up: false, left: false };
        findings.left = self.is_left(task, &findings)?;
        Ok(findings)
    }

    pub(crate) fn is_still_abandoned(&self, task: &Task, before: &Findings) -> Result<bool> {
        let now = self.look_at(task)?;
        let now = Findings { being_started: now.being_started && !before.given_up, ..now };
        Ok(now.is_abandoned() && now.started(task.state.run()).is_none())
    }

    /// Tells whether processes of an ended task are still running without a supervisor.
    fn is_left(&self, task: &Task, findings: &Findings) -> Result<bool> {
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

    /// Tells whether any process of a task's current run is alive: its first process, one with its mark in the environment, or
    /// one in its control group.
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
        Ok(look::read(&members)?.is_some_and(|members| !members.is_empty()))
    }

    pub(crate) fn boot_time(&self) -> Timestamp {
        Timestamp::from_micros(self.base.clock.now().as_micros() - platform::uptime_us())
    }

    /// Records what was found.
    pub(crate) fn record_findings(&self, id: &TaskId, findings: &Findings) -> Result<bool> {
        let store = self.base.store()?;
        let transaction = store.begin()?;
        let Some(mut task) = transaction.task(id)? else {
            return Ok(false);
        };
        let changed = self.apply_findings(&transaction, &mut task, findings)?;
        if changed {
            transaction.commit()?;
            fail_point("settle-committed");
            self.base.ring();
        }
        Ok(changed)
    }

    /// Turns what was found into events; returns whether there were any.
    pub(crate) fn apply_findings(
        &self,
        transaction: &Transaction<'_>,
        task: &mut Task,
        findings: &Findings,
    ) -> Result<bool> {
        let now = self.base.clock.now();
        let run = task.state.run();
        let mut changed = false;
        if findings.run != run {
            // Another run was started since; the findings do not apply to it.
            return Ok(false);
        }
        if matches!(task.state, TaskState::Starting { .. }) {
            match findings.started(run) {
                Some((process, started_at)) => {
                    transaction.apply(
                        task,
                        &Event::Started { process, started_at },
                        started_at,
                        Change::default(),
                    )?;
                    changed = true;
                }
                None if findings.is_abandoned() && self.is_still_abandoned(task, findings)? => {
                    transaction.apply(task, &Event::Released, now, Change::default())?;
                    // If the disk is full, the next command does it.
                    let _ = self.base.home.note_waiting();
                    changed = true;
                }
                None => {}
            }
        }
        let fresh = findings.journal.iter().skip(task.journal_seen as usize).filter(|line| line.run == run);
        for line in fresh {
            let event = match &line.entry {
                JournalEntry::KillRequested { by, signal, .. } => {
                    Event::KillRequested { by: by.clone(), signal: *signal }
                }
                JournalEntry::Stalled { prompt } => Event::Stalled { prompt: prompt.clone() },
                JournalEntry::Ready { what } => Event::Ready { what: what.clone(), ready_at: line.at },
                JournalEntry::Progress { progress } => Event::Progress { progress: progress.clone() },
                JournalEntry::Spawning { .. }
                | JournalEntry::NotExecuted { .. }
                | JournalEntry::Started { .. }
                | JournalEntry::LimitReached { .. }
                | JournalEntry::ResourceLimitReached { .. }
                | JournalEntry::Hosted
                | JournalEntry::Belongs { .. }
                | JournalEntry::TakenOver { .. }
                | JournalEntry::TreeEmpty { .. } => continue,
            };
            changed |= transaction.apply(task, &event, line.at, Change::default()).is_ok();
        }
        let seen = Change { journal_seen: Some(findings.seen), ..Change::default() };
        let live = matches!(
            task.state,
            TaskState::Running { .. } | TaskState::Cancelling { .. } | TaskState::Starting { .. }
        );
        if let Some(record) = findings.record.as_ref().filter(|_| live) {
            let change = Change {
                duration_ms: Some((record.duration_seconds * 1000.0) as u64),
                output_bytes: Some(record.output_bytes),
                dropped_bytes: Some(record.dropped_bytes),
                survivors: Some(record.survivors.len() as u32),
                ..seen
            };
            transaction.apply(task, &ended_by(record), record.completed_at, change)?;
            changed = true;
        }
        let is_over = matches!(task.state, TaskState::Ended { .. });
        if is_over && task.survivors > 0 && !findings.supervised && !findings.left {
            let told = findings.tree_empty(run);
            let (end, dropped) = match told {
                Some((Some(end), Some(dropped))) => (end, dropped),
                Some(_) | None => self.size_with_drops(task),
            };
            let change =
                Change { survivors: Some(0), output_bytes: Some(end), dropped_bytes: Some(dropped), ..seen };
            transaction.apply(task, &Event::TreeEmpty, now, change)?;
            changed = true;
        }
        if changed {
            transaction.set_journal_seen(&task.id, findings.seen)?;
        }
        Ok(changed)
    }

    /// Returns the output counts of an ended task: all bytes, and those missing in the log. On a full disk the log may lack the
    /// count of dropped bytes, so earlier counts are kept.
    fn size_with_drops(&self, task: &Task) -> (u64, u64) {
        let Ok((end, dropped)) =
            LogView::open(&self.base.home.task(&task.id), StreamChoice::Both).map(|view| view.size())
        else {
            return (task.output_bytes, task.dropped_bytes);
        };
        let all = end.max(task.output_bytes);
        (all, dropped + (all - end))
    }

    /// Records every end that is on disk, in the order of the tasks; returns whether there were any.
    pub(crate) fn record_endings(&self, transaction: &Transaction<'_>) -> Result<bool> {
        let mut any = false;
        for mut task in transaction.unsettled()? {
            if !matches!(task.state, TaskState::Ended { .. }) {
                let findings = match self.look_at(&task) {
                    // It is inspected again when it is asked for.
                    Err(error) if !error.is_lack() => continue,
                    other => other?,
                };
                if findings.record.is_some() {
                    any |= self.apply_findings(transaction, &mut task, &findings)?;
                }
            }
        }
        Ok(any)
    }

    pub(crate) fn record_unsupervised(&self, id: &TaskId, run: u32, cause: Cause) -> Result<bool> {
        let now = self.base.clock.now();
        let store = self.base.store()?;
        let transaction = store.begin()?;
        let Some(mut task) = transaction.task(id)? else {
            return Ok(false);
        };
        if task.state.run() != run || matches!(task.state, TaskState::Ended { .. }) {
            return Ok(false);
        }
        end_unsupervised(&self.base.home, &transaction, &mut task, cause, now)?;
        transaction.commit()?;
        self.base.ring();
        Ok(true)
    }

    /// Shows an end that is on disk but not in the database yet. Unreadable files change nothing.
    pub(crate) fn overlay(&self, task: &mut Task) {
        if task.state.process().is_some()
            && let Ok(Some(record)) = self.base.home.task(&task.id).result(task.state.run())
        {
            task.show_record(&record);
        }
    }
}
