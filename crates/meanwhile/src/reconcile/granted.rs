//! Launches tasks that were given their slots.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use mw_model::{Cause, TaskId, TaskSpec, TaskState};

use crate::approval::digest_of_spec;
use crate::disk::log_names;
use crate::error::{Denial, Error, Result};
use crate::launch::before::UpcomingRun;
use crate::queue::next::Granted;
use crate::reconcile::Reconciler;
use crate::task::Task;

impl Reconciler<'_> {
    /// Launches all tasks. Returns whether slots are free again, because a launch failed or was not needed. Failures
    /// are recorded with their tasks.
    pub(crate) fn launch_all(&self, to_launch: Vec<Granted>) -> bool {
        let mut freed = false;
        for granted in to_launch {
            match self.launch(granted) {
                // Another supervisor has the task, with its own slots.
                Ok(task) if matches!(task.state, TaskState::Starting { .. }) => {
                    let _ = self.reconcile_task(&task.id);
                    freed = true;
                }
                Ok(_) => {}
                // A start that was cut short waits for the next command. Retrying at once could loop forever.
                Err(error) if error.is_temporary() => {}
                Err(_) => freed = true,
            }
        }
        freed
    }

    /// Launches a task that was given its slots. A failure is recorded and frees them.
    pub(crate) fn launch(&self, granted: Granted) -> Result<Task> {
        let Granted { task, slots, hold: _hold } = granted;
        let id = task.id.clone();
        let launched = match self.base.home.task(&id).spec() {
            // The task may have been queued for long, and its spec is a file that can change.
            Ok(spec) if differs_from_approval(&spec) => Err(Error::Denied(Denial::ChangedSince)),
            Ok(spec) => {
                // A task that was cancelled before it ran no longer has a second name for its log.
                log_names::link_name(&self.base.home, &task);
                self.pass_before(&task, &spec)
                    .and_then(|()| self.base.launch(task.clone(), &spec, None, slots))
            }
            Err(error) => Err(error),
        };
        match launched {
            Ok(task) => Ok(task),
            // A full disk, or a starter that may not start processes, is not the task's fault. The task stays queued.
            Err(error) if error.is_temporary() => self.after_silence(&id, error),
            Err(error) => {
                self.record_failure(&task, &error)?;
                Err(error)
            }
        }
    }

    fn pass_before(&self, task: &Task, spec: &TaskSpec) -> Result<()> {
        self.base.pass_before(&UpcomingRun {
            id: &task.id,
            run: task.state.run(),
            name: task.name.as_deref(),
            session: &task.session,
            command: &|| spec.to_line(),
            cwd: Path::new(OsStr::from_bytes(spec.cwd.as_bytes())),
            env: &spec.env,
        })
    }

    fn record_failure(&self, task: &Task, error: &Error) -> Result<()> {
        let message = match error {
            Error::Spawn { message, .. } => message.clone(),
            other => other.to_string(),
        };
        let run = task.state.run();
        let recorded = self.base.database.change(&task.id, |changing| match &changing.task().state {
            TaskState::Starting { run: stored, .. } if *stored == run => {
                changing.end(Cause::SpawnFailed { message })
            }
            _ => Ok(()),
        });
        match recorded {
            Err(Error::NotFound(_)) => Ok(()),
            other => other,
        }
    }

    /// Handles a supervisor that was killed before it answered, or could not begin. The task's directory decides; a
    /// command that was not executed stays queued, and the next command starts it.
    pub(crate) fn after_silence(&self, id: &TaskId, error: Error) -> Result<Task> {
        self.reconcile_started(id)?;
        let task = self.base.database.stored(id)?;
        match task.state {
            // Another process may be adopting it. Its command may run.
            TaskState::Pending { .. } | TaskState::Starting { .. }
                if self.base.database.look_at(&task)?.may_have_begun(task.state.run()) =>
            {
                Ok(task)
            }
            TaskState::Pending { .. } | TaskState::Starting { .. } => Err(error),
            TaskState::Running { .. } | TaskState::Cancelling { .. } | TaskState::Ended { .. } => Ok(task),
        }
    }
}

fn differs_from_approval(spec: &TaskSpec) -> bool {
    spec.approval.as_ref().is_some_and(|approval| approval.digest != digest_of_spec(spec))
}
