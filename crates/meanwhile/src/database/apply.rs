//! Recording what a task's directory shows.

use mw_model::{Cause, Event, TaskId, TaskState};

use super::findings::Findings;
use super::stores::Database;
use crate::disk::store::{Change, StoreError, Transaction};
use crate::disk::task_dir::log_view::{LogView, StreamChoice};
use crate::error::Result;
use crate::task::{Task, ended_by};

impl Database {
    /// Records what was found.
    pub(crate) fn record_findings(&self, id: &TaskId, findings: &Findings) -> Result<bool> {
        let changed = self.change_if_present(id, |changing| changing.record(findings))?;
        Ok(changed.unwrap_or(false))
    }

    /// Turns what was found into events; returns whether there were any.
    pub(crate) fn apply_findings(
        &self,
        transaction: &Transaction<'_>,
        task: &mut Task,
        findings: &Findings,
    ) -> Result<bool> {
        if findings.run != task.state.run() {
            // Another run was started since; the findings do not apply to it.
            return Ok(false);
        }
        let seen_before = task.journal_seen;
        let changed = self.apply_start(transaction, task, findings)?
            | self.apply_journal(transaction, task, findings)?
            | self.apply_exit(transaction, task, findings)?
            | self.apply_empty_tree(transaction, task, findings)?;
        if changed || findings.seen > seen_before {
            transaction.set_journal_seen(&task.id, findings.seen)?;
        }
        Ok(changed)
    }

    /// Records the start of a task that was being started, or that it led to nothing.
    fn apply_start(&self, inside: &Transaction<'_>, task: &mut Task, findings: &Findings) -> Result<bool> {
        if !matches!(task.state, TaskState::Starting { .. }) {
            return Ok(false);
        }
        if let Some((process, started_at)) = findings.started(findings.run) {
            let event = Event::Started { process, started_at };
            self.record_event(inside, task, &event, started_at, Change::default())?;
            return Ok(true);
        }
        if !findings.is_abandoned() || !self.is_still_abandoned(task, findings)? {
            return Ok(false);
        }
        self.record_event(inside, task, &Event::Released, self.clock.now(), Change::default())?;
        // If the disk is full, the next command does it.
        let _ = self.home.note_waiting();
        Ok(true)
    }

    /// Records what the supervisor wrote to the journal since the last time.
    fn apply_journal(&self, inside: &Transaction<'_>, task: &mut Task, findings: &Findings) -> Result<bool> {
        let mut changed = false;
        let new = findings.journal.iter().skip(task.journal_seen as usize);
        for line in new.filter(|line| line.run == findings.run) {
            // The start is recorded above, with the process that was found.
            let event = match line.entry.event(line.at) {
                Some(Event::Started { .. }) | None => continue,
                Some(event) => event,
            };
            match self.record_event(inside, task, &event, line.at, Change::default()) {
                // It is known already, or came too late.
                Err(StoreError::Refused(_)) => {}
                applied => {
                    applied?;
                    changed = true;
                }
            }
        }
        Ok(changed)
    }

    /// Records the end of a task that held a slot.
    fn apply_exit(&self, inside: &Transaction<'_>, task: &mut Task, findings: &Findings) -> Result<bool> {
        let Some(record) = &findings.record else { return Ok(false) };
        if matches!(task.state, TaskState::Pending { .. } | TaskState::Ended { .. }) {
            return Ok(false);
        }
        let change = Change { journal_seen: Some(findings.seen), ..record.into() };
        self.record_event(inside, task, &ended_by(record), record.completed_at, change)?;
        Ok(true)
    }

    /// Records that the last child of an ended task has ended.
    fn apply_empty_tree(
        &self,
        inside: &Transaction<'_>,
        task: &mut Task,
        findings: &Findings,
    ) -> Result<bool> {
        let had_children = matches!(task.state, TaskState::Ended { .. }) && task.survivors > 0;
        // The task may have been inspected while it was being started, and have ended since.
        if !had_children || findings.supervised || !findings.had_ended || findings.has_orphans {
            return Ok(false);
        }
        let (end, dropped) = match findings.tree_empty(findings.run) {
            Some((Some(end), Some(dropped))) => (end, dropped),
            Some(_) | None => self.size_with_drops(task),
        };
        let change = Change {
            survivors: Some(0),
            output_bytes: Some(end),
            dropped_bytes: Some(dropped),
            journal_seen: Some(findings.seen),
            ..Change::default()
        };
        self.record_event(inside, task, &Event::TreeEmpty, self.clock.now(), change)?;
        Ok(true)
    }

    /// Returns the output counts of an ended task: all bytes, and those missing in the log. On a full disk the log may lack the
    /// count of dropped bytes, so earlier counts are kept.
    fn size_with_drops(&self, task: &Task) -> (u64, u64) {
        let Ok((end, dropped)) =
            LogView::open(&self.home.task(&task.id), StreamChoice::Both).map(|view| view.size())
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
            let look = || match self.has_record(&task)? {
                true => self.look_at(&task).map(Some),
                false => Ok(None),
            };
            match look() {
                Ok(Some(findings)) if findings.record.is_some() => {
                    any |= self.apply_findings(transaction, &mut task, &findings)?;
                }
                Err(error) if error.is_shortage() => return Err(error),
                // One that cannot be inspected is inspected again when it is asked for.
                Ok(_) | Err(_) => {}
            }
        }
        Ok(any)
    }

    /// Ends a run that has no supervisor, unless it has ended or another one has begun.
    pub(crate) fn record_unsupervised(&self, id: &TaskId, run: u32, cause: Cause) -> Result<bool> {
        let changed = self.change_if_present(id, |changing| {
            let state = &changing.task().state;
            let is_current = state.run() == run && !matches!(state, TaskState::Ended { .. });
            if is_current {
                changing.end(cause)?;
            }
            Ok(is_current)
        })?;
        Ok(changed.unwrap_or(false))
    }
}
