//! A follow-up message to an agent that has answered.

use std::fs;
use std::os::unix::fs::DirBuilderExt;

use mw_model::wire::FOLLOW_UPS_DIR;
use mw_model::{Event, RunOrigin, Status, TaskId, TaskState};

use crate::error::{Error, Result};
use crate::fail_point::fail_point;
use crate::kill::KillRequest;
use crate::launch;
use crate::redact::Redactor;
use crate::runtime::Runtime;
use crate::store::Change;
use crate::task::{Scope, Task};

impl Runtime {
    /// Sends a message to an agent that has answered, in a further run of its task, and returns at once.
    ///
    /// # Errors
    /// When the task is unknown, is none of an agent's, has no answer, is being resumed already, or when the
    /// agent's session is gone.
    pub fn resume(&self, handle: &str, scope: &Scope, message: &str) -> Result<Task> {
        let id = self.resolve_for_deed(handle, scope)?;
        let spec = self.home.spec(&id)?;
        if spec.agent.is_none() {
            return Err(Error::Invalid {
                message: format!("{id} is not an agent's task and cannot be sent a message"),
                hint: format!("mw input {id} types into it, mw restart {id} runs it once more"),
            });
        }
        if message.trim().is_empty() {
            return Err(Error::Invalid {
                message: "the message is empty".to_owned(),
                hint: format!("write what the agent should do next: mw resume {id} 'and now …'"),
            });
        }
        self.reconcile_task(&id)?;
        let task = self.stored(&id)?;
        check_answered(&task)?;
        if !self.can_go_on(&id) {
            return Err(Error::Expired { id: id.to_string() });
        }
        if task.survivors > 0 {
            let request = KillRequest { by: "resume".to_owned(), signal: 15, grace_ms: None };
            self.kill_all(std::slice::from_ref(&id), &request).all_done()?;
            self.reconcile_task(&id)?;
        }
        // What can no longer run is refused before anything is moved.
        launch::spawn_message(&self.settings, &spec, task.state.run() + 1)?;
        self.await_unsupervised(&id)?;
        self.requeue(&id, message)?;
        self.ring();
        self.reconcile()?;
        let mut task = self.current(&id)?;
        self.complete(&mut task)?;
        Redactor::new(&self.settings.redact, &spec.env).task(&mut task);
        Ok(task)
    }

    /// Makes the next run wait. Of several who want that at once, one gets it.
    fn requeue(&self, id: &TaskId, message: &str) -> Result<()> {
        let store = self.durable()?;
        let transaction = store.begin(&self.home.tasks())?;
        let Some(mut task) = transaction.task(id)? else { return Err(Error::NotFound(id.to_string())) };
        check_answered(&task)?;
        let run = task.state.run();
        let follow_ups = self.home.task(id).join(FOLLOW_UPS_DIR);
        let failed = || Error::io(format!("cannot write the message to {}", follow_ups.display()));
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&follow_ups).map_err(failed())?;
        fs::write(follow_ups.join((run + 1).to_string()), message).map_err(failed())?;
        launch::shelve_run(&self.home, id, run)?;
        let event = Event::Requeued { origin: RunOrigin::Resume };
        transaction.apply(&mut task, &event, self.clock.now(), Change::default())?;
        self.home.note_waiting()?;
        transaction.commit()?;
        fail_point("restart-committed");
        Ok(())
    }

    /// Tells whether an agent can be talked to again: it can reload what was said, or it still lives.
    fn can_go_on(&self, id: &TaskId) -> bool {
        let record = self.agent_record(id);
        let lingers = || self.lingering_agent(id).is_ok();
        record.session_id.is_some() && (record.can_load || lingers())
    }
}

fn check_answered(task: &Task) -> Result<()> {
    let refused = |message: &str| {
        let message = message.to_owned();
        Err(Error::WrongState { id: task.id.to_string(), status: task.status.word(), message })
    };
    let origin = match &task.state {
        TaskState::Pending { origin, .. }
        | TaskState::Starting { origin, .. }
        | TaskState::Running { origin, .. }
        | TaskState::Cancelling { origin, .. } => Some(*origin),
        TaskState::Ended { .. } => None,
    };
    match (origin, task.status) {
        (Some(RunOrigin::Resume), _) => {
            refused("it is currently being resumed; wait for its answer before you send the next message")
        }
        (None, Status::Completed) => Ok(()),
        (Some(RunOrigin::First | RunOrigin::Restart) | None, _) => {
            refused("only completed tasks can be resumed")
        }
    }
}
