//! Removing finished tasks and their files.

use std::fs;

use mw_model::{TaskId, TaskState};
use serde::Serialize;

use crate::error::{Error, Result};
use crate::fail_point::fail_point;
use crate::kill::KillRequest;
use crate::runtime::Runtime;
use crate::store::Filter;
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
                self.reconcile_task(id)?;
                let task = self.stored(id)?;
                if is_live(&task) {
                    live.push(id.clone());
                }
            }
            self.kill_all(&live, request)?;
        }
        for id in ids {
            self.reconcile_task(id)?;
            let task = self.stored(id)?;
            if is_live(&task) {
                let reason = format!(
                    "it is {}",
                    if task.survivors > 0 { "over, but children of it live" } else { task.status.word() }
                );
                report.kept.push(Retained { id: id.clone(), reason });
            } else {
                self.remove(id)?;
                report.cleared.push(id.clone());
            }
        }
        self.sweep_log_names();
        Ok(report)
    }

    /// Returns the finished tasks that fit, oldest first.
    ///
    /// # Errors
    /// When the database fails.
    pub fn finished(&self, filter: &Filter, older_than_ms: Option<u64>) -> Result<Vec<Task>> {
        self.reconcile()?;
        let before = older_than_ms
            .map(|ms| self.clock.now().as_micros().saturating_sub(ms.saturating_mul(1000) as i64));
        Ok(self.store()?.ended(filter, before, &self.home.tasks())?)
    }

    /// Only what lies under the task root is ever removed: the path is built from a checked id.
    pub(crate) fn remove(&self, id: &TaskId) -> Result<()> {
        self.await_unsupervised(id)?;
        let transaction = self.store()?.begin(&self.home.tasks())?;
        transaction.delete(id)?;
        // The files first: a row without files can be cleared again, files without a row would come
        // back at the next rebuild.
        match fs::remove_dir_all(self.home.task(id)) {
            Ok(()) => {}
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => {
                return Err(Error::io(format!("cannot remove {}", self.home.task(id).display()))(error));
            }
        }
        fail_point("clear-files-removed");
        transaction.commit()?;
        Ok(())
    }
}

const fn is_live(task: &Task) -> bool {
    !matches!(task.state, TaskState::Ended { .. }) || task.survivors > 0
}
