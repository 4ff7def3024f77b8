//! Recording what a task's directory shows.

use mw_model::{Cause, Event, TaskId, TaskState};

use super::ending::end_unsupervised;
use super::findings::Findings;
use super::stores::Database;
use crate::disk::store::{Change, StoreError, Transaction};
use crate::disk::task_dir::log_view::{LogView, StreamChoice};
use crate::error::Result;
use crate::fail_point::fail_point;
use crate::task::{Task, ended_by};

impl Database {
    /// Records what was found.
    pub(crate) fn record_findings(&self, id: &TaskId, findings: &Findings) -> Result<bool> {
        let store = self.store()?;
        let transaction = store.begin()?;
        let Some(mut task) = transaction.task(id)? else {
            return Ok(false);
        };
        let seen_before = task.journal_seen;
        let changed = self.apply_findings(&transaction, &mut task, findings)?;
        // Lines that are no event are noted, too. Otherwise every further look would try to record them.
        if changed || findings.seen > seen_before {
            transaction.commit()?;
        }
        if changed {
            fail_point("settle-committed");
            self.announce();
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
        let now = self.clock.now();
        let run = task.state.run();
        let seen_before = task.journal_seen;
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
                    let _ = self.home.note_waiting();
                    changed = true;
                }
                None => {}
            }
        }
        let fresh = findings.journal.iter().skip(task.journal_seen as usize).filter(|line| line.run == run);
        for line in fresh {
            // The start is recorded above, with the process that was found.
            let event = match line.entry.event(line.at) {
                Some(Event::Started { .. }) | None => continue,
                Some(event) => event,
            };
            match transaction.apply(task, &event, line.at, Change::default()) {
                // It is known already, or came too late.
                Err(StoreError::Refused(_)) => {}
                applied => {
                    applied?;
                    changed = true;
                }
            }
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
        if is_over && task.survivors > 0 && !findings.supervised && !findings.has_orphans {
            let ended_tree = findings.tree_empty(run);
            let (end, dropped) = match ended_tree {
                Some((Some(end), Some(dropped))) => (end, dropped),
                Some(_) | None => self.size_with_drops(task),
            };
            let change =
                Change { survivors: Some(0), output_bytes: Some(end), dropped_bytes: Some(dropped), ..seen };
            transaction.apply(task, &Event::TreeEmpty, now, change)?;
            changed = true;
        }
        if changed || findings.seen > seen_before {
            transaction.set_journal_seen(&task.id, findings.seen)?;
        }
        Ok(changed)
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
            if !matches!(task.state, TaskState::Ended { .. }) {
                let findings = match self.look_at(&task) {
                    // It is inspected again when it is asked for.
                    Err(error) if !error.is_shortage() => continue,
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
        let now = self.clock.now();
        let store = self.store()?;
        let transaction = store.begin()?;
        let Some(mut task) = transaction.task(id)? else {
            return Ok(false);
        };
        if task.state.run() != run || matches!(task.state, TaskState::Ended { .. }) {
            return Ok(false);
        }
        end_unsupervised(&self.home, &transaction, &mut task, cause, now)?;
        transaction.commit()?;
        self.announce();
        Ok(true)
    }
}
