//! Another run of the same task.

use std::fs;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use mw_model::{Event, RunOrigin, TaskId, TaskSpec, TaskState};
use rustix::fs::{Access, access};

use crate::approval::Approvals;
use crate::approval::{digest_of_request, digest_of_spec};
use crate::database::Lookup;
use crate::disk::file_lock::open_private;
use crate::error::{Denial, Error, Result};
use crate::fail_point::fail_point;
use crate::launch::message;
use crate::live::Live;
use crate::live::kill::KillRequest;
use crate::queue::Queue;
use crate::read::Tasks;
use crate::reconcile::Reconciler;
use crate::redact::Redactor;
use crate::request::Approval;
use crate::request::TaskRequest;
use crate::start::Starts;
use crate::task::{Scope, Task};

/// Disk space for the records of an end and of a start.
const RESTART_ROOM: usize = 256 << 10;
/// Number of descriptors that an end and a start need at the same time.
const RESTART_DESCRIPTORS: usize = 12;

/// Disk space that is reserved for a restart.
struct Reserve {
    path: PathBuf,
}

impl Drop for Reserve {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

impl Starts<'_> {
    /// Ends the current run, if there is one, and starts the next. If several callers restart it at once, one succeeds
    /// per run; the others are refused, or restart the new run.
    ///
    /// # Errors
    /// When the task is unknown, its spec is damaged, it can no longer be executed, or another process is restarting
    /// it. Then no other run follows, now or later.
    pub fn restart(&self, handle: &str, scope: &Scope) -> Result<Task> {
        let id = Lookup::on(&self.base.database).resolve_to_act(handle, scope)?;
        let spec = self.spec_to_run(&id)?;
        Reconciler::on(self.base).reconcile_task(&id)?;
        let task = self.base.database.stored(&id)?;
        // A task that can no longer run is refused before its current run is ended.
        message::check_place(&spec.cwd)?;
        message::spawn_message(&self.base.settings, &spec, task.state.run() + 1)?;
        let lives = !matches!(task.state, TaskState::Ended { .. }) || task.survivors > 0;
        let reserve = if lives { Some(self.reserve_for_restart(&task)?) } else { None };
        let ended_only = |source| match source {
            // Another process has changed the task and decides what happens to it.
            Error::WrongState { .. } => source,
            source if lives => Error::EndedOnly { id: id.clone(), source: Box::new(source) },
            source => source,
        };
        if lives {
            let request = KillRequest::term("restart".to_owned());
            match Live::on(self.base).kill_all(std::slice::from_ref(&id), &request).all_done() {
                Ok(_) => _ = Reconciler::on(self.base).reconcile_task(&id).map_err(ended_only)?,
                Err(error) => {
                    Reconciler::on(self.base).reconcile_task(&id)?;
                    // If another process has restarted it meanwhile, the check below decides.
                    if self.base.database.stored(&id)?.state.run() == task.state.run() {
                        return Err(error);
                    }
                }
            }
        }
        drop(reserve);
        self.base.home.task(&id).await_unsupervised(self.base.settings.tell).map_err(ended_only)?;
        let requeued = self.requeue(&id, RunOrigin::Restart, None, |task| match &task.state {
            TaskState::Ended { .. } if task.survivors == 0 => Ok(()),
            TaskState::Ended { .. } => Err("processes of its last run are still running; kill it first"),
            TaskState::Pending { .. } | TaskState::Starting { .. } => Err("another process is restarting it"),
            TaskState::Running { .. } | TaskState::Cancelling { .. } => {
                Err("another process restarted it, or it did not end")
            }
        });
        Ok(self.start_requeued(requeued.map_err(ended_only)?, &spec))
    }

    /// Reserves the disk space and descriptors that another run of a live task needs, so that a lack of them is
    /// reported while the task still runs. They are released when the result is dropped.
    fn reserve_for_restart(&self, task: &Task) -> Result<Reserve> {
        let supervisor = &self.base.settings.executables.supervisor;
        let is_program = access(supervisor, Access::EXEC_OK).map_err(io::Error::from).and_then(|()| {
            if fs::metadata(supervisor)?.is_file() { Ok(()) } else { Err(io::ErrorKind::IsADirectory.into()) }
        });
        is_program.map_err(|source| Error::Supervisor { path: supervisor.clone(), source })?;
        self.base.home.task(&task.id).prepare_archive(task.state.run())?;
        let directory = self.base.home.task(&task.id).open_as_file()?;
        let reserve = Reserve { path: self.base.home.task(&task.id).join(".restart") };
        let room = open_private(&reserve.path).and_then(|mut file| file.write_all(&[0; RESTART_ROOM]));
        room.map_err(Error::io(format!("not enough disk space to restart {}; it keeps running", task.id)))?;
        let spare = (0..RESTART_DESCRIPTORS).map(|_| directory.try_clone()).collect::<io::Result<Vec<_>>>();
        spare.map_err(Error::io(format!("cannot restart {}; it keeps running", task.id)))?;
        Ok(reserve)
    }

    /// Refuses to restart a task for a call that asks for a different one, or that was approved for a different one.
    /// For a person only the command and the directory must match, because the environment differs between terminals.
    pub(super) fn check_same(&self, request: &TaskRequest, existing: &Task) -> Result<()> {
        let spec = self.base.home.task(&existing.id).spec()?;
        if request.approval == Approval::User {
            let is_same =
                spec.command == request.command && spec.cwd.as_bytes() == request.cwd.as_os_str().as_bytes();
            let message = "it has another command or directory; end it first, or choose another name";
            return if is_same { Ok(()) } else { Err(existing.refusal(message)) };
        }
        if digest_of_request(request) != digest_of_spec(&spec) {
            return Err(Error::Denied(Denial::OtherCommand { id: existing.id.clone() }));
        }
        match request.approval.granted() {
            Some(granted) => Approvals::on(self.base).use_for(granted, request, &existing.id),
            None => Ok(()),
        }
    }

    /// Reads the spec that another run would execute.
    pub(crate) fn spec_to_run(&self, id: &TaskId) -> Result<TaskSpec> {
        self.base.home.task(id).refuse_foreign()?;
        self.base.home.task(id).spec()
    }

    /// Queues the next run, if the task's state allows it. After success the run will come; after an error it never
    /// will.
    pub(crate) fn requeue(
        &self,
        id: &TaskId,
        origin: RunOrigin,
        message: Option<&str>,
        fits: impl FnOnce(&Task) -> std::result::Result<(), &'static str>,
    ) -> Result<Task> {
        fail_point("restart-looked");
        let task = self.base.database.change(id, |changing| {
            changing.look_at_directory()?;
            fits(changing.task()).map_err(|why| changing.refusal(why))?;
            if self.base.home.task(id).is_supervised()? {
                return Err(changing.refusal("its supervisor is still running; try again"));
            }
            let run = changing.task().state.run();
            Queue::on(self.base).renew_bond(changing.task())?;
            self.base.home.task(id).prepare_archive(run)?;
            let noted = self.base.home.task(id).set_follow_up(run + 1, message);
            noted.map_err(Error::io(format!("cannot write the message for run {} of {id}", run + 1)))?;
            changing.apply(&Event::Requeued { origin, not_before: None })?;
            self.base.home.note_waiting()?;
            fail_point("restart-prepared");
            Ok(changing.task().clone())
        })?;
        fail_point("restart-committed");
        self.base.database.archive_previous_run(id);
        Ok(task)
    }

    /// Starts all tasks that may start now that another run is queued, and returns the current task. The run will
    /// come, so a failure here is not an error of the request.
    pub(crate) fn start_requeued(&self, requeued: Task, spec: &TaskSpec) -> Task {
        let _ = Reconciler::on(self.base).reconcile();
        let mut task = Reconciler::on(self.base).current(&requeued.id).unwrap_or(requeued);
        let _ = Tasks::on(self.base).complete(&mut task);
        Redactor::new(&self.base.settings.redact, &spec.env).task(&mut task);
        task
    }
}
