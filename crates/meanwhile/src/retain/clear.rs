//! Removes finished tasks and their files.

use std::collections::HashSet;

use mw_model::wire::KillReceipt;
use mw_model::{Status, TaskId, TaskState, Timestamp};
use serde::Serialize;

use crate::disk::log_names;
use crate::disk::store::{TaskFilter, Transaction};
use crate::error::{Error, Result, Retained};
use crate::fail_point::fail_point;
use crate::hooks::Hooks;
use crate::live::Live;
use crate::live::kill::KillRequest;
use crate::queue::followers;
use crate::reconcile::Reconciler;
use crate::retain::Retention;
use crate::task::Task;

/// How many tasks are removed in one transaction, so that other processes get their turn.
pub(crate) const AT_ONCE: usize = 64;

/// The tasks that were removed, and those that were not.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ClearReport {
    /// Removed tasks.
    pub cleared: Vec<TaskId>,
    /// Tasks that were kept, and why.
    pub kept: Vec<Retained>,
}

/// What happens to a task whose owner has not been notified of its end.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Undelivered {
    /// It is removed, because the caller named it.
    Goes,
    /// It is kept until the owner has been notified.
    Stays,
}

/// When output is removed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Output {
    /// With everything else, after the task was removed from the database.
    GoesLast,
    /// Before the database needs room to remove the task, because output takes up most of the room.
    GoesFirst,
}

impl Retention<'_> {
    /// Removes tasks. Live tasks are ended first if `kill` is given, and kept otherwise.
    ///
    /// # Errors
    /// When the database fails, or a live task cannot be ended.
    pub fn clear(&self, ids: &[TaskId], kill: Option<&KillRequest>) -> Result<ClearReport> {
        let mut report = ClearReport::default();
        if let Some(request) = kill {
            let mut live = Vec::new();
            for id in ids {
                match self.reason_to_keep(id) {
                    // Reported below.
                    Ok(None) | Err(Error::Foreign { .. }) => {}
                    Ok(Some(_)) => live.push(id.clone()),
                    Err(error) => return Err(error),
                }
            }
            // Tasks that could not be ended are found again below, and kept.
            let kills = Live::on(self.base).kill_all(&live, request);
            let left_none = |receipt: &&KillReceipt| receipt.survivors.is_empty();
            let dead: HashSet<&TaskId> =
                kills.receipts.iter().filter(left_none).map(|receipt| &receipt.id).collect();
            // A supervisor answers before it records that the last child is dead. For a damaged task only its lock shows
            // whether it runs.
            for id in &live {
                if dead.contains(id) || self.base.database.damage(id)?.is_some() {
                    self.base.home.task(id).await_unsupervised(self.base.settings.tell)?;
                }
            }
        }
        let mut over = Vec::new();
        for id in ids {
            match self.reason_to_keep(id) {
                Ok(None) => over.push(id.clone()),
                Ok(Some(reason)) => report.kept.push(Retained::live(id, reason)),
                Err(error @ Error::Foreign { .. }) => report.kept.push(Retained::because(id, error)),
                Err(error) => return Err(error),
            }
        }
        self.clear_finished(&over, Undelivered::Goes, &mut report)?;
        self.sweep_child_sessions()?;
        log_names::sweep_log_names(&self.base.home);
        self.give_room_back();
        Ok(report)
    }

    /// Shrinks the database after many tasks were removed, if that is worthwhile and the disk has room for it.
    pub(crate) fn give_room_back(&self) {
        if let Ok(store) = self.base.database.durable() {
            store.shrink();
        }
    }

    /// Returns why a task may not be removed: it is alive, or its children are. This is decided by its directory,
    /// because on a full disk the end may be missing from the database.
    ///
    /// # Errors
    /// When it is unknown, its directory does not belong to a task, or the database fails.
    pub fn reason_to_keep(&self, id: &TaskId) -> Result<Option<String>> {
        self.base.home.task(id).refuse_foreign()?;
        match Reconciler::on(self.base).current(id) {
            Ok(task) => Ok(reason_to_keep(&task)),
            Err(Error::Damaged { .. }) => self.reason_to_keep_damaged(id),
            Err(error) => Err(error),
        }
    }

    fn reason_to_keep_damaged(&self, id: &TaskId) -> Result<Option<String>> {
        let is_running = self.base.home.task(id).is_supervised()?;
        Ok(is_running.then(|| "it is running, but its files are damaged".to_owned()))
    }

    /// Removes tasks that were finished when they were selected; those that are running again are kept.
    pub(crate) fn clear_finished(
        &self,
        ids: &[TaskId],
        undelivered: Undelivered,
        report: &mut ClearReport,
    ) -> Result<()> {
        let mut without_room = Vec::new();
        for some in ids.chunks(AT_ONCE) {
            for id in some {
                self.base.home.task(id).await_unsupervised(self.base.settings.tell)?;
            }
            fail_point("clear-looked");
            match self.forget_tasks(some, undelivered, Output::GoesLast, report) {
                Err(Error::Store(error)) if error.is_disk_full() => without_room.extend_from_slice(some),
                other => other?,
            }
        }
        // One by one, and then again, because the first pass may have freed enough room.
        for is_last in [false, true] {
            for id in std::mem::take(&mut without_room) {
                match self.forget_tasks(std::slice::from_ref(&id), undelivered, Output::GoesFirst, report) {
                    Err(Error::Store(error)) if error.is_disk_full() && is_last => {
                        report.kept.push(Retained::without_room(&id));
                    }
                    Err(Error::Store(error)) if error.is_disk_full() => without_room.push(id),
                    other => other?,
                }
            }
        }
        Ok(())
    }

    /// Removes tasks from the database in one transaction, each only if it is still finished inside it, and then
    /// removes their files.
    ///
    /// The directory of such a task is marked before the commit. If this process is killed, the remaining files do not
    /// count as a task and do not come back when the database is rebuilt.
    fn forget_tasks(
        &self,
        ids: &[TaskId],
        undelivered: Undelivered,
        output: Output,
        report: &mut ClearReport,
    ) -> Result<()> {
        let databases = match self.base.database.databases() {
            // There is no room to open the database, so no process can restart a task either.
            Err(Error::Store(error)) if error.is_disk_full() && output == Output::GoesFirst => {
                ids.iter().try_for_each(|id| self.remove_output_of_finished(id))?;
                return Err(error.into());
            }
            other => other?,
        };
        let changes =
            databases.iter().map(|database| database.begin()).collect::<std::result::Result<Vec<_>, _>>()?;
        let (mut going, mut kept) = (Vec::new(), Vec::new());
        for id in ids {
            match self.reason_to_keep_now(&changes, id, undelivered)? {
                Some(reason) => kept.push(reason),
                None => going.push(id.clone()),
            }
        }
        for change in &changes {
            for id in &going {
                followers::release_followers(&self.base.home, change, id)?;
                Hooks::on(self.base).keep_hook_calls(change, id)?;
            }
            change.delete_all(&going)?;
        }
        if output == Output::GoesFirst {
            going.iter().try_for_each(|id| self.remove_output(id))?;
        }
        going.iter().for_each(|id| self.base.home.task(id).begin_clearing());
        fail_point("clear-marked");
        if let Err(error) = changes.into_iter().try_for_each(Transaction::commit) {
            going.iter().for_each(|id| self.base.home.task(id).leave_clearing());
            return Err(error.into());
        }
        fail_point("clear-committed");
        report.kept.extend(kept);
        for id in going {
            match self.base.home.task(&id).try_remove().and_then(|()| self.remove_keeper(&id)) {
                Ok(()) => report.cleared.push(id),
                Err(error) => report.kept.push(Retained::because(&id, error)),
            }
        }
        Ok(())
    }

    fn remove_output_of_finished(&self, id: &TaskId) -> Result<()> {
        let is_finished = self.reason_to_keep(id)?.is_none() && !self.base.home.task(id).is_supervised()?;
        if is_finished { self.remove_output(id) } else { Ok(()) }
    }

    fn remove_output(&self, id: &TaskId) -> Result<()> {
        let failed = Error::io(format!("cannot remove the output in {}", self.base.home.task(id).display()));
        self.base.home.task(id).remove_output().map_err(failed)
    }

    /// Decides inside the transaction, because the task may have been restarted since it was selected.
    fn reason_to_keep_now(
        &self,
        changes: &[Transaction<'_>],
        id: &TaskId,
        undelivered: Undelivered,
    ) -> Result<Option<Retained>> {
        match self.base.home.task(id).refuse_foreign() {
            Err(foreign @ Error::Foreign { .. }) => return Ok(Some(Retained::because(id, foreign))),
            looked => looked?,
        }
        let mut is_known = false;
        for change in changes {
            let Some(mut task) = change.task(id)? else { continue };
            is_known = true;
            self.base.database.overlay(&mut task);
            if let Some(reason) = reason_to_keep(&task) {
                return Ok(Some(Retained::live(id, reason)));
            }
            if undelivered == Undelivered::Stays && change.has_open_notices(id)? {
                return Ok(Some(Retained::undelivered(id)));
            }
        }
        let reason = if is_known {
            self.base.home.task(id).is_supervised()?.then(|| "its supervisor is still running".to_owned())
        } else {
            self.reason_to_keep_damaged(id)?
        };
        Ok(reason.map(|reason| Retained::live(id, reason)))
    }

    /// Returns the matching finished tasks, oldest first.
    ///
    /// # Errors
    /// When the database fails.
    pub fn finished(&self, filter: &TaskFilter, older_than_ms: Option<u64>) -> Result<Vec<Task>> {
        Reconciler::on(self.base).reconcile()?;
        let before = older_than_ms
            .map(|ms| self.base.clock.now().as_micros().saturating_sub(ms.saturating_mul(1000) as i64));
        let mut finished = self.base.database.store()?.ended(filter, before)?;
        // On a full disk an end may be missing from the database, but not from the directories.
        let live = TaskFilter {
            statuses: vec![Status::Running, Status::Resumed, Status::Cancelling],
            limit: u32::MAX,
            offset: 0,
            ..filter.clone()
        };
        let mut unwritten = self.base.database.store()?.list(&live)?.tasks;
        unwritten.iter_mut().for_each(|task| self.base.database.overlay(task));
        unwritten.retain(|task| {
            let fits = filter.statuses.is_empty() || filter.statuses.contains(&task.status);
            let is_old = |ended: Timestamp| before.is_none_or(|before| ended.as_micros() < before);
            fits && task.status.is_terminal() && task.ended_at.is_some_and(is_old)
        });
        finished.extend(unwritten);
        Ok(finished)
    }
}

/// Returns why a task in this state may not be removed.
fn reason_to_keep(task: &Task) -> Option<String> {
    let is_over = matches!(task.state, TaskState::Ended { .. });
    match (is_over, task.survivors) {
        (true, 0) => None,
        (true, _) => Some("it has ended, but some of its processes are still running".to_owned()),
        (false, _) => Some(format!("it is {}", task.status.word())),
    }
}
