//! A follow-up message to an agent that has answered.

use mw_model::{RunOrigin, Status, TaskId, TaskState};

use crate::agent::Agents;
use crate::database::Lookup;
use crate::error::{Error, Invalid, Result};
use crate::launch::message;
use crate::live::Live;
use crate::live::kill::KillRequest;
use crate::reconcile::Reconciler;
use crate::start::Starts;
use crate::task::{Scope, Task};

impl Starts<'_> {
    /// Sends a message to an agent that has answered, in another run of its task, and returns at once.
    ///
    /// # Errors
    /// When the task is unknown, does not belong to an agent, has no answer, or is already being resumed, or when the
    /// agent's session is gone.
    pub fn resume(&self, handle: &str, scope: &Scope, message: &str) -> Result<Task> {
        let id = Lookup::on(&self.base.database).resolve_to_act(handle, scope)?;
        let spec = self.spec_to_run(&id)?;
        if spec.agent.is_none() {
            return Err(Error::Invalid(Invalid::NotAnAgent { id }));
        }
        if message.trim().is_empty() {
            return Err(Error::Invalid(Invalid::EmptyMessage { id }));
        }
        Reconciler::on(self.base).reconcile_task(&id)?;
        let task = self.base.database.stored(&id)?;
        answered(&task).map_err(|message| task.refusal(message))?;
        if !self.can_go_on(&id) {
            return Err(Error::Expired { id });
        }
        if task.survivors > 0 {
            let request = KillRequest::term("resume".to_owned());
            Live::on(self.base).kill_all(std::slice::from_ref(&id), &request).all_done()?;
            Reconciler::on(self.base).reconcile_task(&id)?;
        }
        // A task that can no longer run is refused before any file is moved.
        message::spawn_message(&self.base.settings, &spec, task.state.run() + 1)?;
        self.base.home.task(&id).await_unsupervised(self.base.settings.tell)?;
        // If several callers resume it at once, one succeeds.
        let task = self.requeue(&id, RunOrigin::Resume, Some(message), answered)?;
        Ok(self.start_requeued(task, &spec))
    }

    /// Returns whether an agent can take a follow-up: it can reload its conversation, or it is still alive.
    fn can_go_on(&self, id: &TaskId) -> bool {
        let record = Agents::on(self.base).agent_record(id);
        let lingers = || Agents::on(self.base).lingering_agent(id).is_ok();
        record.session_id.is_some() && (record.can_load || lingers())
    }
}

/// Returns an error if an agent in this state cannot take a message.
const fn answered(task: &Task) -> std::result::Result<(), &'static str> {
    let origin = match &task.state {
        TaskState::Pending { origin, .. }
        | TaskState::Starting { origin, .. }
        | TaskState::Running { origin, .. }
        | TaskState::Cancelling { origin, .. } => Some(*origin),
        TaskState::Ended { .. } => None,
    };
    match (origin, task.status) {
        (Some(RunOrigin::Resume), _) => {
            Err("it is currently being resumed; wait for its answer before you send the next message")
        }
        (None, Status::Completed) => Ok(()),
        (
            Some(RunOrigin::First | RunOrigin::Restart | RunOrigin::Retry { .. } | RunOrigin::Repetition)
            | None,
            _,
        ) => Err("only completed tasks can be resumed"),
    }
}
