//! Removing finished tasks and their files.

use std::fs;

use mw_model::{Status, TaskId, TaskState, Timestamp};
use serde::Serialize;

use crate::error::{Error, Result};
use crate::fail_point::fail_point;
use crate::kill::KillRequest;
use crate::queue;
use crate::runtime::Runtime;
use crate::store::{Filter, Transaction};
use crate::task::Task;

/// What was removed and what was not.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ClearReport {
    /// Removed tasks.
    pub cleared: Vec<TaskId>,
    /// Tasks that were kept, and why.
    pub kept: Vec<Retained>,
}

/// A task that was not removed.
#[derive(Clone, Debug, Serialize)]
pub struct Retained {
    /// Which.
    pub id: TaskId,
    /// Why.
    pub reason: String,
    /// What to do about it.
    pub hint: String,
}

impl Runtime {
    /// Removes tasks. Live ones are ended first with `kill`, and kept without.
    ///
    /// # Errors
    /// When the database fails, or a live task cannot be ended.
    pub fn clear(&self, ids: &[TaskId], kill: Option<&KillRequest>) -> Result<ClearReport> {
        let mut report = ClearReport::default();
        if let Some(request) = kill {
            let mut live = Vec::new();
            for id in ids {
                if self.reason_to_keep(id)?.is_some() {
                    live.push(id.clone());
                }
            }
            // What could not be ended is met again below, and kept.
            let _ = self.kill_all(&live, request);
            // Of what is damaged the lock alone tells, and a supervisor takes a moment to leave.
            for id in &live {
                if self.damage(id)?.is_some() {
                    self.await_unsupervised(id)?;
                }
            }
        }
        let mut without_room = Vec::new();
        for id in ids {
            if let Some(reason) = self.reason_to_keep(id)? {
                let hint = "mw clear --kill ends it first".to_owned();
                report.kept.push(Retained { id: id.clone(), reason, hint });
            } else if self.remove_if_room(id)? {
                report.cleared.push(id.clone());
            } else {
                without_room.push(id.clone());
            }
        }
        // Others have made some.
        for id in without_room {
            if self.remove_if_room(&id)? {
                report.cleared.push(id);
            } else {
                let reason = "its output is removed, but the database has no room to forget it".to_owned();
                let hint = "make room on the disk and clear it again".to_owned();
                report.kept.push(Retained { id, reason, hint });
            }
        }
        self.sweep_log_names();
        Ok(report)
    }

    /// Tells why a task may not be removed: it lives, or children of it do. What its directory shows decides, because a full
    /// disk keeps an ending out of the database.
    ///
    /// # Errors
    /// When it is unknown, or the database fails.
    pub fn reason_to_keep(&self, id: &TaskId) -> Result<Option<String>> {
        let task = match self.current(id) {
            Ok(task) => task,
            Err(Error::Damaged { .. }) => {
                return Ok(self
                    .home
                    .is_supervised(id)?
                    .then(|| "it runs, though its files are damaged".to_owned()));
            }
            Err(error) => return Err(error),
        };
        let is_over = matches!(task.state, TaskState::Ended { .. });
        Ok(match (is_over, task.survivors) {
            (true, 0) => None,
            (true, _) => Some("it is over, but children of it live".to_owned()),
            (false, _) => Some(format!("it is {}", task.status.word())),
        })
    }

    /// Removes a task; false when its output is gone and the database has no room for that.
    fn remove_if_room(&self, id: &TaskId) -> Result<bool> {
        match self.remove(id) {
            Ok(()) => Ok(true),
            Err(Error::Store(error)) if error.is_lack_of_room() => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Returns the finished tasks that fit, oldest first.
    ///
    /// # Errors
    /// When the database fails.
    pub fn finished(&self, filter: &Filter, older_than_ms: Option<u64>) -> Result<Vec<Task>> {
        self.reconcile()?;
        let before = older_than_ms
            .map(|ms| self.clock.now().as_micros().saturating_sub(ms.saturating_mul(1000) as i64));
        let mut finished = self.store()?.ended(filter, before, &self.home.tasks())?;
        // A full disk keeps endings out of the database, not out of the directories.
        let live = Filter {
            statuses: vec![Status::Running, Status::Cancelling],
            limit: u32::MAX,
            offset: 0,
            ..filter.clone()
        };
        let mut unwritten = self.store()?.list(&live, &self.home.tasks())?.tasks;
        unwritten.iter_mut().for_each(|task| self.overlay(task));
        unwritten.retain(|task| {
            let fits = filter.statuses.is_empty() || filter.statuses.contains(&task.status);
            let is_old = |ended: Timestamp| before.is_none_or(|before| ended.as_micros() < before);
            fits && task.status.is_terminal() && task.ended_at.is_some_and(is_old)
        });
        finished.extend(unwritten);
        Ok(finished)
    }

    /// Only what lies under the task root is ever removed: the path is built from a checked id.
    pub(crate) fn remove(&self, id: &TaskId) -> Result<()> {
        self.await_unsupervised(id)?;
        match self.delete_row(id) {
            // Output is what takes the room: without it the database may have some.
            Err(Error::Store(error)) if error.is_lack_of_room() => {
                self.remove_output(id)?;
                self.delete_row(id)?;
            }
            other => other?,
        }
        fail_point("clear-committed");
        match fs::remove_dir_all(self.home.task(id)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(self.not_removed(id)(error));
            }
            Ok(()) | Err(_) => {}
        }
        self.remove_keeper(id)
    }

    fn remove_output(&self, id: &TaskId) -> Result<()> {
        self.home.remove_output(id).map_err(self.not_removed(id))
    }

    fn not_removed(&self, id: &TaskId) -> impl FnOnce(std::io::Error) -> Error + use<> {
        Error::io(format!("cannot remove {}", self.home.task(id).display()))
    }

    /// Output goes while the database is ours, so that nobody runs the task again meanwhile. How it ended stays on record
    /// until it is forgotten, and what is left then is marked: it would come back at the next rebuild.
    fn delete_row(&self, id: &TaskId) -> Result<()> {
        let databases = self.databases()?;
        let mut changes = Vec::new();
        for database in &databases {
            let transaction = database.begin(&self.home.tasks())?;
            queue::release_followers(&self.home, &transaction, id)?;
            self.keep_hook_calls(database, &transaction, id)?;
            transaction.delete(id)?;
            changes.push(transaction);
        }
        self.remove_output(id)?;
        self.home.begin_clearing(id);
        fail_point("clear-files-removed");
        let done = changes.into_iter().try_for_each(Transaction::commit);
        if done.is_err() {
            self.home.leave_clearing(id);
        }
        Ok(done?)
    }
}
