//! A further run of the same spec.

use mw_model::{Event, RunOrigin, TaskState};

use crate::error::{Error, Result};
use crate::fail_point::fail_point;
use crate::kill::KillRequest;
use crate::launch;
use crate::redact::Redactor;
use crate::runtime::Runtime;
use crate::store::Change;
use crate::task::{Scope, Task};

impl Runtime {
    /// Ends the present run, if there is one, and starts the next.
    ///
    /// # Errors
    /// When the task is unknown, its spec is damaged, or it cannot be executed any more.
    pub fn restart(&self, handle: &str, scope: &Scope) -> Result<Task> {
        let id = self.resolve_for_deed(handle, scope)?;
        let spec = self.home.spec(&id)?;
        self.reconcile_task(&id)?;
        let task = self.stored(&id)?;
        // What can no longer run is refused before anything is ended or moved.
        launch::check_place(&spec.cwd)?;
        launch::spawn_message(&self.settings, &spec, task.state.run() + 1)?;
        if !matches!(task.state, TaskState::Ended { .. }) || task.survivors > 0 {
            let request = KillRequest::term("restart".to_owned());
            self.kill_all(std::slice::from_ref(&id), &request).all_done()?;
            self.reconcile_task(&id)?;
        }
        let task = self.stored(&id)?;
        if !matches!(task.state, TaskState::Ended { .. }) {
            let message = "it did not end and cannot be run again".to_owned();
            return Err(Error::WrongState { id: id.to_string(), status: task.status.word(), message });
        }
        self.await_unsupervised(&id)?;
        launch::shelve_run(&self.home, &id, task.state.run())?;
        let now = self.clock.now();
        let store = self.durable()?;
        let transaction = store.begin(&self.home.tasks())?;
        let Some(mut task) = transaction.task(&id)? else {
            return Err(Error::NotFound(handle.to_owned()));
        };
        transaction.apply(
            &mut task,
            &Event::Requeued { origin: RunOrigin::Restart },
            now,
            Change::default(),
        )?;
        self.home.note_waiting()?;
        transaction.commit()?;
        fail_point("restart-committed");
        self.ring();
        self.reconcile()?;
        let mut task = self.current(&id)?;
        if matches!(task.state, TaskState::Pending { .. }) {
            task.queue_position = Some(self.store()?.queue_position(&task)?);
        }
        Redactor::new(&self.settings.redact, &spec.env).task(&mut task);
        Ok(task)
    }
}
