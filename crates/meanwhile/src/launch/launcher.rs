//! Launching a task that was given a slot.

use mw_model::wire::RefusalCode;
use mw_model::{Cause, Event, Process, TaskId, TaskSpec, TaskState, Timestamp, next_state};

use super::Launcher;
use super::hand_over::{self, Purpose, Supervisor};
use crate::approval::digest_of_spec;
use crate::disk::slots::Slots;
use crate::error::{Denial, Error, Result};
use crate::fail_point::fail_point;
use crate::queue::next::Granted;
use crate::read::Reader;
use crate::record::{Lookup, Records};
use crate::settle::Settler;
use crate::task::Task;

impl Launcher<'_> {
    /// Launches all; tells whether slots are free again, because a launch failed or was not needed. Failures are
    /// recorded with their tasks.
    pub(crate) fn launch_all(&self, to_launch: Vec<Granted>) -> bool {
        let mut freed = false;
        for granted in to_launch {
            match self.launch(granted) {
                // Another supervisor has it, and its own slots.
                Ok(task) if matches!(task.state, TaskState::Starting { .. }) => {
                    let _ = Settler::on(self.base).reconcile_task(&task.id);
                    freed = true;
                }
                Ok(_) => {}
                // What was killed on the way waits for the next command; trying at once might never end.
                Err(error) if error.is_for_now() => {}
                Err(_) => freed = true,
            }
        }
        freed
    }

    /// Launches a task that was given its slots. Its failure is recorded, and frees them.
    pub(crate) fn launch(&self, granted: Granted) -> Result<Task> {
        let Granted { task, slots, hold: _hold } = granted;
        let id = task.id.clone();
        let launched = match self.base.home.spec(&id) {
            // It may have waited for long, and its spec is a file.
            Ok(spec) if differs_from_approval(&spec) => Err(Error::Denied(Denial::ChangedSince)),
            Ok(spec) => {
                // A task that was cancelled before it ran has lost the name of its log.
                Reader::on(self.base).link_name(&task);
                self.launch_spec(task.clone(), &spec, None, slots)
            }
            Err(error) => Err(error),
        };
        match launched {
            Ok(task) => Ok(task),
            // A disk that is full, or a starter that may not start processes, is no fault of the task's: it goes on
            // waiting.
            Err(error) if error.is_for_now() => self.after_silence(&id, error),
            Err(error) => {
                self.record_failure(&task, &error)?;
                Err(error)
            }
        }
    }

    /// The same for a spec at hand, and perhaps with a supervisor that waits for its message.
    ///
    /// A success is not written to the database: the supervisor's journal has it, and whoever looks
    /// next takes it from there.
    pub(crate) fn launch_spec(
        &self,
        mut task: Task,
        spec: &TaskSpec,
        ready: Option<Supervisor>,
        slots: Slots,
    ) -> Result<Task> {
        let launched = self.try_launch(&task, spec, ready, &slots);
        drop(slots);
        fail_point("start-answered");
        match launched {
            Ok((process, started_at)) => {
                if let Ok(state) = next_state(&task.state, &Event::Started { process, started_at }) {
                    task.set_state(state);
                }
                Ok(task)
            }
            // Another supervisor has it: whoever looks next finds its journal.
            Err(Error::Spawn { code: RefusalCode::Busy, .. }) => Ok(task),
            Err(error) => Err(error),
        }
    }

    fn record_failure(&self, task: &Task, error: &Error) -> Result<()> {
        let message = match error {
            Error::Spawn { message, .. } => message.clone(),
            other => other.to_string(),
        };
        let run = task.state.run();
        let recorded = Records::on(self.base).change(&task.id, |changing| match &changing.task().state {
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

    /// The supervisor was killed before it answered, or could not begin. What its directory shows decides; a command
    /// that was not executed waits for the next command, which starts it.
    pub(crate) fn after_silence(&self, id: &TaskId, error: Error) -> Result<Task> {
        Settler::on(self.base).reconcile_started(id)?;
        let task = Lookup::on(self.base).stored(id)?;
        match task.state {
            TaskState::Pending { .. } | TaskState::Starting { .. } => Err(error),
            TaskState::Running { .. } | TaskState::Cancelling { .. } | TaskState::Ended { .. } => Ok(task),
        }
    }

    fn try_launch(
        &self,
        task: &Task,
        spec: &TaskSpec,
        ready: Option<Supervisor>,
        slots: &Slots,
    ) -> Result<(Process, Timestamp)> {
        let mut message = hand_over::spawn_message(&self.base.settings, spec, task.state.run())?;
        if message.metadata.is_some()
            && let Some(waiting) = self.base.home.waiting_metadata(&task.id)
        {
            let (run, redact) = (task.state.run(), &self.base.settings.redact);
            message.metadata = hand_over::metadata(spec, run, redact, Some(waiting));
        }
        let supervisor = match ready {
            Some(supervisor) => supervisor,
            None => {
                let run = task.state.run();
                let supervisor = Supervisor::summon_for(&self.base.settings.programs, Purpose::Spawn, run)?;
                supervisor.send_to(&self.base.home.open_task(&task.id)?);
                supervisor
            }
        };
        supervisor.hand_over(&message, &slots.descriptors())
    }
}

fn differs_from_approval(spec: &TaskSpec) -> bool {
    spec.approval.as_ref().is_some_and(|approval| approval.digest != digest_of_spec(spec))
}
