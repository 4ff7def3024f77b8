//! Submits a request: the task is started, queued, or refused without leaving anything behind.

use std::os::unix::ffi::OsStrExt;

use mw_model::wire::Metadata;
use mw_model::{
    EnvVar, Event, PROGRESS_FD, PROGRESS_VARIABLE, RawText, RunOrigin, SPEC_VERSION, Status,
    TRACEPARENT_VARIABLE, TaskId, TaskSpec, TaskState, TaskTrace, Timestamp, next_state,
};

use crate::approval::{Approvals, Consent};
use crate::disk::agent_sessions::kept_agent;
use crate::disk::home::StartHold;
use crate::disk::platform;
use crate::disk::slots::{Pool, Slots};
use crate::disk::store::{StoreError, new_task};
use crate::disk::vacancy;
use crate::error::{Error, Result};
use crate::fail_point::fail_point;
use crate::launch::Launcher;
use crate::launch::hand_over;
use crate::launch::hand_over::Supervisor;
use crate::queue::Queue;
use crate::queue::next;
use crate::queue::next::Picked;
use crate::read::{Reader, Tasks};
use crate::record::Lookup;
use crate::redact::{Redaction, Redactor};
use crate::request::{IfRunning, TaskRequest};
use crate::settings::AtCapacity;
use crate::settle::Settler;
use crate::start::Starts;
use crate::task::{Scope, Task};
use crate::variables::{SESSION_VARIABLE, TASK_VARIABLE, is_reserved};

/// The answer to a start.
#[derive(Clone, Debug)]
pub struct Started {
    /// The task; pending if it is queued.
    pub task: Task,
    /// Whether it was already running under that name.
    pub existed: bool,
}

/// What is chosen for a task before anything is written.
struct NewTask {
    id: TaskId,
    trace: TaskTrace,
}

fn variable<'env>(env: &'env [EnvVar], name: &str) -> Option<&'env RawText> {
    env.iter().rev().find(|var| var.name.as_bytes() == name.as_bytes()).map(|var| &var.value)
}

impl Starts<'_> {
    /// Keeps a supervisor that was started early, for the next start.
    pub fn use_supervisor(&self, supervisor: Supervisor) {
        self.base.ready.set(Some(supervisor));
    }

    /// Starts a task and returns at once.
    ///
    /// When this returns, the task is on disk and its first process has been executed, or it is queued. On an error nothing is
    /// left of it.
    ///
    /// # Errors
    /// Bad requests, live names, no free slot, a program that cannot be executed.
    pub fn start(&self, request: &TaskRequest) -> Result<Started> {
        request.check()?;
        if let Some(name) = &request.name
            && let Some(existing) = self.live_named(&request.session, name)?
        {
            return self.meet_name(request, existing);
        }
        if let Some(name) = &request.name
            && let Some(hidden) = self.base.store()?.hidden_by(name)?
        {
            let message = format!("the name {name:?} is a prefix of the id {hidden}");
            return Err(Error::invalid(message, "choose another name"));
        }
        let slots = self.slots_at_once(request)?;
        let (new, hold) = self.new_directory(request)?;
        if let Some(granted) = request.approval.granted()
            && let Err(error) = Approvals::on(self.base).use_for(granted, request, &new.id)
        {
            self.forget(&new.id);
            return Err(error);
        }
        let started = match slots {
            Some(slots) => self.start_at_once(request, &new, hold, slots),
            None => self.start_in_order(request, &new, hold),
        };
        match started {
            Ok(mut task) => {
                self.base.ring();
                let texts = [&task.command, task.description.as_ref().unwrap_or(&task.command)];
                let texts = texts.map(String::as_str);
                Redactor::for_texts(&self.base.settings.redact, &request.env, &texts).task(&mut task);
                Ok(Started { task, existed: false })
            }
            Err(error) => {
                self.forget(&new.id);
                Err(error)
            }
        }
    }

    /// Takes slots for a task without using the database: the task has no name that must be unique, follows no other task, and
    /// the queue is empty.
    fn slots_at_once(&self, request: &TaskRequest) -> Result<Option<Slots>> {
        if request.name.is_some() || !request.after.is_empty() {
            return Ok(None);
        }
        if request.uncounted {
            return Ok(Some(Slots::none()));
        }
        let pool = Pool::of(request.kind);
        let mut slots =
            Queue::on(self.base).take_slots(&request.session, pool, self.base.settings.queue.limits())?;
        if slots.is_none() && request.at_capacity == AtCapacity::Reject {
            // Another process may hold the slot just to test it, which happens only inside a transaction.
            let store = self.base.durable()?;
            let _quiet = store.begin(&self.base.home.tasks())?;
            slots =
                Queue::on(self.base).take_slots(&request.session, pool, self.base.settings.queue.limits())?;
            if slots.is_none() {
                return Err(Error::AtCapacity { limit: pool.limit(self.base.settings.queue.limits()) });
            }
        }
        // A slot that was not given back may belong to a task that is still running.
        Ok(slots.filter(|slots| slots.were_given_back() && !self.base.home.waiting_flag().is_set()))
    }

    /// Starts a task that has its slots. The process that opens the database next records it there.
    fn start_at_once(
        &self,
        request: &TaskRequest,
        new: &NewTask,
        hold: StartHold,
        slots: Slots,
    ) -> Result<Task> {
        // The supervisor prepares while the task is written to disk.
        let supervisor = match self.base.ready.take() {
            Some(supervisor) => supervisor,
            None => Supervisor::summon(&self.base.settings.programs)?,
        };
        supervisor.send_to(hold.directory());
        let (spec, mut task) = self.write_down(request, new)?;
        let since = spec.created_at;
        task.set_state(
            next_state(&task.state, &Event::Reserved { since })
                .map_err(|refused| Error::Store(StoreError::from(refused)))?,
        );
        let launched = Launcher::on(self.base).launch_spec(task, &spec, Some(supervisor), slots);
        drop(hold);
        match launched {
            // Its directory shows how far the start came.
            Err(error @ Error::Unanswered) => Launcher::on(self.base).after_silence(&new.id, error),
            other => other,
        }
    }

    /// Queues a task, and starts all queued tasks that may start.
    fn start_in_order(&self, request: &TaskRequest, new: &NewTask, hold: StartHold) -> Result<Task> {
        let id = &new.id;
        let (spec, task) = self.write_down(request, new)?;
        if let Some(metadata) = hand_over::metadata(&spec, 1, &self.base.settings.redact, None) {
            self.base.home.write_metadata(id, &Metadata { status: Status::Pending, ..metadata });
        }
        Settler::on(self.base).reconcile_unsettled()?;
        let mut picked = self.enqueue(request, task)?;
        let untended = picked.any_untended;
        fail_point("start-committed");
        let own = picked.to_launch.iter().position(|granted| granted.task.id == *id);
        let own = own.map(|at| picked.to_launch.remove(at));
        let launched = own.map(|granted| Launcher::on(self.base).launch(granted));
        drop(hold);
        if Launcher::on(self.base).launch_all(picked.to_launch) || untended {
            Settler::on(self.base).pump_queue();
        }
        match launched {
            Some(task) => task,
            None => {
                let mut task = Lookup::on(self.base).stored(id)?;
                Tasks::on(self.base).complete(&mut task)?;
                Ok(task)
            }
        }
    }

    /// Writes a task's row and decides which tasks start. Durable when it returns.
    fn enqueue(&self, request: &TaskRequest, mut task: Task) -> Result<Picked> {
        let limits = self.base.settings.queue;
        let store = self.base.durable()?;
        let transaction = store.begin(&self.base.home.tasks())?;
        if let Some(name) = &request.name
            && let Some(other) = transaction.live_named(&request.session, name)?
        {
            let status = transaction.task(&other)?.map_or(Status::Pending, |task| task.status);
            return Err(Error::NameLive { name: name.clone(), id: other.to_string(), status });
        }
        for before in &request.after {
            if transaction.task(before)?.is_none() {
                return Err(Error::NotFound(before.to_string()));
            }
        }
        task.number = transaction.take_number(&task.session, task.number)?;
        transaction.insert(&task)?;
        if let Some(teller) = &request.teller {
            transaction.promise_end(&task, &teller.0)?;
        }
        self.base.home.note_waiting()?;
        let picked = Queue::on(self.base).pick(&transaction, &request.session)?;
        let waits = !picked.to_launch.iter().any(|granted| granted.task.id == task.id);
        if waits && request.after.is_empty() && request.at_capacity == AtCapacity::Reject {
            return Err(Error::AtCapacity { limit: Pool::of(request.kind).limit(limits.limits()) });
        }
        next::commit(&self.base.home, transaction)?;
        Ok(picked)
    }

    fn live_named(&self, session: &str, name: &str) -> Result<Option<Task>> {
        let found = self.base.store()?.resolve_live_name(session, name)?;
        match found {
            // Bring the state of the task with that name up to date before the name counts as in use.
            Some(id) => {
                Settler::on(self.base).reconcile_task(&id)?;
                Ok(self
                    .base
                    .store()?
                    .task(&id, &self.base.home.tasks())?
                    .filter(|task| !task.status.is_terminal()))
            }
            None => Ok(None),
        }
    }

    fn meet_name(&self, request: &TaskRequest, existing: Task) -> Result<Started> {
        match request.if_running {
            IfRunning::Refuse => Err(Error::NameLive {
                name: existing.name.clone().unwrap_or_default(),
                id: existing.id.to_string(),
                status: existing.status,
            }),
            IfRunning::Return => {
                Ok(Started { task: Redaction::on(self.base).without_secrets(existing), existed: true })
            }
            IfRunning::Restart => {
                self.check_same(request, &existing)?;
                let task = self.restart(existing.id.as_str(), &Scope::Session(request.session.clone()))?;
                Ok(Started { task, existed: true })
            }
        }
    }

    fn new_directory(&self, request: &TaskRequest) -> Result<(NewTask, StartHold)> {
        loop {
            let random: [u8; 40] = platform::random_bytes().map_err(Error::io("no random numbers"))?;
            let (for_id, for_trace) = random.split_at(8);
            let number = for_id.iter().fold(0, |number, byte| number << 8 | u64::from(*byte));
            let id = TaskId::from_random(request.kind, number);
            let made = self.base.home.make_task(&id).map_err(Error::io("cannot make the task directory"))?;
            if let Some(hold) = made {
                fail_point("start-directory-made");
                let trace = self.new_trace(request, for_trace);
                return Ok((NewTask { id, trace }, hold));
            }
        }
    }

    /// Chooses the task's place in the trace of the caller. An invalid `TRACEPARENT` is ignored.
    fn new_trace(&self, request: &TaskRequest, random: &[u8]) -> TaskTrace {
        let mut bytes = [0; 32];
        bytes.copy_from_slice(random);
        let host = variable(&request.env, TRACEPARENT_VARIABLE)
            .and_then(|value| std::str::from_utf8(value.as_bytes()).ok()?.parse().ok());
        self.base.settings.traces.place(bytes, host)
    }

    /// Writes what to run into the task's directory. From here on the task survives this process.
    fn write_down(&self, request: &TaskRequest, new: &NewTask) -> Result<(TaskSpec, Task)> {
        let session = self.base.home.session(&request.session);
        let number = session.take_number(|| Ok(self.base.store()?.last_number(&request.session)?))?;
        let mut spec = self.spec_of(request, new, number, self.base.clock.now());
        if !request.foreground {
            spec.handle_number = Some(self.next_handle_number(&request.session, request.context.as_deref())?);
        }
        self.base.home.write_spec(&spec)?;
        fail_point("start-spec-written");
        let state = TaskState::Pending { run: 1, origin: RunOrigin::First };
        let task = new_task(&spec, state, &self.base.home.log(&spec.id));
        Reader::on(self.base).link_log(&task);
        Ok((spec, task))
    }

    /// Returns the number of the next short handle in a context, or else in a session.
    pub(crate) fn next_handle_number(&self, session: &str, context: Option<&str>) -> Result<u64> {
        let last = || Ok(self.base.store()?.last_handle_number(session, context)?);
        self.base.home.session(session).take_handle_number(context, last)
    }

    fn spec_of(&self, request: &TaskRequest, new: &NewTask, number: u64, now: Timestamp) -> TaskSpec {
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
            number,
            dialect: request.dialect,
            context: request.context.clone(),
            handle_number: None,
            foreground: request.foreground,
            name: request.name.clone(),
            description: request.description.clone(),
            command: request.command.clone(),
            place: request.place,
            cwd: request.cwd.as_os_str().as_bytes().into(),
            env,
            umask: request.umask,
            io: request.io,
            limits: request.limits.clone(),
            lifetime: request.lifetime,
            bond: vacancy::bond(
                &self.base.home,
                &request.session,
                request.lifetime,
                self.base.settings.session_grace_ms,
                now,
            ),
            batch: request.batch.clone(),
            after: request.after.clone(),
            priority: request.priority,
            queue: Some(self.base.settings.queue.limits()),
            log_header: self.base.settings.log_header,
            hooks: Some(self.base.settings.hooks.any()),
            ready: request.ready.clone(),
            progress_fd: request.progress_fd,
            parent_session: request.parent_session.clone(),
            parent_message: request.parent_message.clone(),
            teller: request.teller.as_ref().map(|teller| teller.0.clone()),
            starter: request.starter.as_ref().map(|starter| starter.0.clone()),
            created_at: now,
            agent: request.agent.clone(),
            approved_by: request.approval.by().to_owned(),
            approved_at: request.approval.granted().map_or(now, |granted| granted.at),
            approval: request.approval.granted().map(Consent::on_record),
            // The processes of an agent that is kept alive are in the trace of the agent's own task.
            trace: kept_agent(&request.session).is_none().then_some(*trace),
        }
    }

    /// Removes everything of a task that was refused.
    fn forget(&self, id: &TaskId) {
        // The files first, as in a removal: files without a row might come back. The mark says that what cannot be removed
        // now is not a task.
        self.base.home.begin_clearing(id);
        self.base.home.remove_task(id);
        let removed = self.base.transact(|transaction| {
            transaction.delete_all(std::slice::from_ref(id))?;
            Ok(transaction.delete_spans(id)?)
        });
        // The next command sweeps what could not be removed now.
        let _ = removed.and_then(|()| Settler::on(self.base).reconcile_unsettled());
        Settler::on(self.base).pump_queue();
    }
}
