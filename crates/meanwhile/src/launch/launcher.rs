//! Launches a task that was given a slot.

use mw_model::wire::RefusalCode;
use mw_model::{Event, Process, TaskSpec, Timestamp, next_state};

use super::message;
use crate::base::Directories;
use crate::confine::kernel::forget_kernel;
use crate::disk::slots::Slots;
use crate::error::{Error, Result};
use crate::fail_point::fail_point;
use crate::supervisor::{Purpose, SupervisorLink};
use crate::task::Task;

impl Directories {
    /// Launches a task that has its slots, with a waiting supervisor if there is one.
    ///
    /// A success is not written to the database. It is in the supervisor's journal, from which the next
    /// reconciliation records it.
    pub(crate) fn launch(
        &self,
        mut task: Task,
        spec: &TaskSpec,
        ready: Option<SupervisorLink>,
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
            // Another supervisor has the task. The next reconciliation finds its journal.
            Err(Error::Spawn { code: RefusalCode::Busy, .. }) => Ok(task),
            Err(error) => {
                if matches!(&error, Error::Spawn { code: RefusalCode::Confinement, .. }) {
                    // What was found out in this boot is wrong here, as in a container that shares the home.
                    forget_kernel(&self.settings);
                }
                Err(error)
            }
        }
    }

    fn try_launch(
        &self,
        task: &Task,
        spec: &TaskSpec,
        ready: Option<SupervisorLink>,
        slots: &Slots,
    ) -> Result<(Process, Timestamp)> {
        let mut message = message::spawn_message(&self.settings, spec, task.state.run())?;
        if message.metadata.is_some()
            && let Some(waiting) = self.home.task(&task.id).waiting_metadata()
        {
            let (run, redact) = (task.state.run(), &self.settings.redact);
            message.metadata = message::metadata(spec, run, redact, Some(waiting));
        }
        let supervisor = match ready {
            Some(supervisor) => supervisor,
            None => {
                let run = task.state.run();
                let supervisor = SupervisorLink::start_for(&self.settings.executables, Purpose::Spawn, run)?;
                supervisor.send_to(&self.home.task(&task.id).open_as_file()?);
                supervisor
            }
        };
        supervisor.hand_over(message, &slots.descriptors())
    }
}
