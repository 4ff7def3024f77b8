//! Writes a task to disk: its directory, its ids in a trace, and its spec.

use std::os::unix::ffi::OsStrExt;

use mw_model::{
    EnvVar, PROGRESS_FD, PROGRESS_VARIABLE, RawText, RunOrigin, SESSION_VARIABLE, SPEC_VERSION,
    TASK_VARIABLE, TRACEPARENT_VARIABLE, TaskId, TaskSpec, TaskState, TaskTrace, Timestamp,
};

use crate::base::Directories;
use crate::database::Database;
use crate::disk::log_names;
use crate::disk::platform;
use crate::disk::session_dir::agent_sessions::kept_agent;
use crate::disk::session_dir::holder_loss;
use crate::disk::task_dir::StartHold;
use crate::error::{Error, Result};
use crate::fail_point::fail_point;
use crate::request::Consent;
use crate::request::TaskRequest;
use crate::task::Task;
use crate::variables::is_reserved;

/// The values that are chosen for a task before anything is written.
pub(super) struct NewTask {
    pub(super) id: TaskId,
    pub(super) trace: TaskTrace,
}

/// The numbers of a task.
pub(super) struct Numbers {
    /// Among all tasks of the session.
    in_session: u64,
    /// For the short handle; absent for a foreground task.
    handle: Option<u64>,
}

/// The last numbers of a session, for counters whose files are missing.
pub(crate) trait LastNumbers {
    fn number(&self, session: &str) -> Result<u64>;
    fn handle_number(&self, session: &str, context: Option<&str>) -> Result<u64>;
}

impl LastNumbers for Database {
    fn number(&self, session: &str) -> Result<u64> {
        Ok(self.store()?.last_number(session)?)
    }

    fn handle_number(&self, session: &str, context: Option<&str>) -> Result<u64> {
        Ok(self.store()?.last_handle_number(session, context)?)
    }
}

fn variable<'env>(env: &'env [EnvVar], name: &str) -> Option<&'env RawText> {
    env.iter().rev().find(|var| var.name.as_bytes() == name.as_bytes()).map(|var| &var.value)
}

impl Directories {
    pub(super) fn new_directory(&self, request: &TaskRequest) -> Result<(NewTask, StartHold)> {
        loop {
            let random: [u8; 40] = platform::random_bytes().map_err(Error::io("no random numbers"))?;
            let (for_id, for_trace) = random.split_at(8);
            let number = for_id.iter().fold(0, |number, byte| number << 8 | u64::from(*byte));
            let id = TaskId::from_random(request.kind, number);
            let made = self.home.make_task(&id).map_err(Error::io("cannot make the task directory"))?;
            if let Some(hold) = made {
                fail_point("start-directory-made");
                let trace = self.new_trace(request, for_trace);
                return Ok((NewTask { id, trace }, hold));
            }
        }
    }

    /// Chooses the task's ids in the trace of the caller. An invalid `TRACEPARENT` is ignored.
    fn new_trace(&self, request: &TaskRequest, random: &[u8]) -> TaskTrace {
        let mut bytes = [0; 32];
        bytes.copy_from_slice(random);
        let host = variable(&request.env, TRACEPARENT_VARIABLE)
            .and_then(|value| std::str::from_utf8(value.as_bytes()).ok()?.parse().ok());
        self.settings.traces.ids(bytes, host)
    }

    /// Takes the numbers of a new task from the counters of its session. `last` returns the last number if there is no
    /// counter.
    pub(super) fn take_numbers(&self, request: &TaskRequest, last: &impl LastNumbers) -> Result<Numbers> {
        let session = self.home.session(&request.session);
        let in_session = session.take_number(|| last.number(&request.session))?;
        let context = request.context.as_deref();
        let next = || session.take_handle_number(context, || last.handle_number(&request.session, context));
        let handle = (!request.foreground).then(next).transpose()?;
        Ok(Numbers { in_session, handle })
    }

    /// Writes the spec to the task's directory. From here on the task survives this process.
    pub(super) fn write_down(
        &self,
        request: &TaskRequest,
        new: &NewTask,
        numbers: &Numbers,
    ) -> Result<(TaskSpec, Task)> {
        let spec = self.spec_of(request, new, numbers, self.clock.now());
        self.home.task(&spec.id).write_spec(&spec)?;
        fail_point("start-spec-written");
        let not_before = spec.schedule.as_ref().and_then(|schedule| schedule.not_before);
        let state = TaskState::Pending { run: 1, origin: RunOrigin::First, not_before };
        let task = Task::new(&spec, state, &self.home.task(&spec.id).log());
        log_names::link_log(&self.home, &task);
        Ok((spec, task))
    }

    fn spec_of(&self, request: &TaskRequest, new: &NewTask, numbers: &Numbers, now: Timestamp) -> TaskSpec {
        let NewTask { id, trace } = new;
        let mark = |name: &str, value: &str| EnvVar { name: name.into(), value: value.into() };
        let mut env: Vec<_> = request.env.iter().filter(|var| !is_reserved(var)).cloned().collect();
        env.push(mark(TASK_VARIABLE, id.as_str()));
        env.push(mark(SESSION_VARIABLE, &request.session));
        if request.progress_fd {
            env.push(mark(PROGRESS_VARIABLE, &PROGRESS_FD.to_string()));
        }
        TaskSpec {
            version: SPEC_VERSION,
            id: id.clone(),
            kind: request.kind,
            session: request.session.clone(),
            number: numbers.in_session,
            dialect: request.dialect,
            context: request.context.clone(),
            handle_number: numbers.handle,
            foreground: request.foreground,
            name: request.name.clone(),
            description: request.description.clone(),
            command: request.command.clone(),
            place: request.place.clone(),
            cwd: request.cwd.as_os_str().as_bytes().into(),
            env,
            umask: request.umask,
            io: request.io,
            limits: request.limits.clone(),
            lifetime: request.lifetime,
            bond: holder_loss::bond(
                self.home.session(&request.session).path(),
                &request.session,
                request.lifetime,
                self.settings.session_grace_ms(),
            ),
            batch: request.batch.clone(),
            after: request.after.clone(),
            schedule: (!request.schedule.is_none()).then(|| Box::new(request.schedule.clone())),
            priority: request.priority,
            rank: 0,
            queue: Some(request.queue_limits(&self.settings)),
            log_header: self.settings.log_header,
            hooks: Some(self.settings.hooks.any()),
            ready: request.ready.clone(),
            progress_fd: request.progress_fd,
            parent_session: request.parent_session.clone(),
            parent_message: request.parent_message.clone(),
            reporter: request.reporter.as_ref().map(|holder| holder.0.clone()),
            starter: request.starter.as_ref().map(|starter| starter.0.clone()),
            created_at: now,
            agent: request.agent.clone(),
            approved_by: request.approval.by().to_owned(),
            approved_at: request.approval.granted().map_or(now, |granted| granted.at),
            approval: request.approval.granted().map(Consent::on_record),
            // The processes of an agent that is kept alive are in the trace of the agent's own task.
            grant: request.grant.clone().map(Box::new),
            trace: kept_agent(&request.session).is_none().then_some(*trace),
        }
    }
}
