//! From a request to a running task, or to a place in the queue, or to a refusal that leaves nothing.

use std::os::unix::ffi::OsStrExt;

use mw_model::wire::Metadata;
use mw_model::{
    Cause, EnvVar, Event, PROGRESS_FD, PROGRESS_VARIABLE, Process, RawText, RunOrigin, SPEC_VERSION, Status,
    TRACEPARENT_VARIABLE, TaskId, TaskSpec, TaskState, TaskTrace, Timestamp, next_state,
};

use super::request::{IfRunning, TaskRequest};
use crate::approval::{Consent, digest_of_spec};
use crate::disk::home::StartHold;
use crate::disk::platform;
use crate::disk::store::{StoreError, new_task};
use crate::error::{Error, Result};
use crate::fail_point::fail_point;
use crate::launch::hand_over;
use crate::launch::hand_over::{Purpose, Supervisor};
use crate::live::agent::kept_agent;
use crate::queue::next;
use crate::queue::next::{Granted, Picked};
use crate::queue::slots::{Pool, Slots};
use crate::read::redact::Redactor;
use crate::runtime::Runtime;
use crate::session::vacancy;
use crate::settings::AtCapacity;
use crate::task::{Scope, Task};

/// The answer to a start.
#[derive(Clone, Debug)]
pub struct Started {
    /// The task; pending when it waits.
    pub task: Task,
    /// Whether it ran already and was only found.
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

fn differs_from_approval(spec: &TaskSpec) -> bool {
    spec.approval.as_ref().is_some_and(|approval| approval.digest != digest_of_spec(spec))
}

impl Runtime {
    /// Takes a supervisor that was summoned early, for the next start.
    pub fn use_supervisor(&self, supervisor: Supervisor) {
        self.ready.set(Some(supervisor));
    }

    /// Starts a task and returns at once.
    ///
    /// When this returns, the task is written down and its first process executed, or it waits in the
    /// queue; on an error nothing is left of it.
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
            && let Some(hidden) = self.store()?.hidden_by(name)?
        {
            return Err(Error::Invalid {
                message: format!("the name {name:?} is short for {hidden}"),
                hint: "choose another name".to_owned(),
            });
        }
        let slots = self.slots_at_once(request)?;
        let (new, hold) = self.new_directory(request)?;
        if let Some(granted) = request.approval.granted()
            && let Err(error) = self.use_for(granted, request, &new.id)
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
                self.ring();
                let texts = [&task.command, task.description.as_ref().unwrap_or(&task.command)];
                let texts = texts.map(String::as_str);
                Redactor::for_texts(&self.settings.redact, &request.env, &texts).task(&mut task);
                Ok(Started { task, existed: false })
            }
            Err(error) => {
                self.forget(&new.id);
                Err(error)
            }
        }
    }

    /// Takes slots for a task that need not ask anybody: it has no name to be unique, waits for no other
    /// task, and nobody waits before it.
    fn slots_at_once(&self, request: &TaskRequest) -> Result<Option<Slots>> {
        if request.name.is_some() || !request.after.is_empty() {
            return Ok(None);
        }
        if request.uncounted {
            return Ok(Some(Slots::none()));
        }
        let pool = Pool::of(request.kind);
        let mut slots = self.take_slots(&request.session, pool, self.settings.queue.limits())?;
        if slots.is_none() && request.at_capacity == AtCapacity::Reject {
            // Somebody may just be trying a slot for others, which is done inside a transaction only.
            let store = self.durable()?;
            let _quiet = store.begin(&self.home.tasks())?;
            slots = self.take_slots(&request.session, pool, self.settings.queue.limits())?;
            if slots.is_none() {
                return Err(Error::AtCapacity { limit: pool.limit(self.settings.queue.limits()) });
            }
        }
        // One that was not given back may belong to a task that lives on.
        Ok(slots.filter(|slots| slots.were_given_back() && !self.home.waiting_flag().is_set()))
    }

    /// Starts a task that has its slots. The database hears of it from whoever opens it next.
    fn start_at_once(
        &self,
        request: &TaskRequest,
        new: &NewTask,
        hold: StartHold,
        slots: Slots,
    ) -> Result<Task> {
        // Gets ready while the task is written down.
        let supervisor = match self.ready.take() {
            Some(supervisor) => supervisor,
            None => Supervisor::summon(&self.settings.programs)?,
        };
        supervisor.send_to(hold.directory());
        let (spec, mut task) = self.write_down(request, new)?;
        let since = spec.created_at;
        task.set_state(
            next_state(&task.state, &Event::Reserved { since })
                .map_err(|refused| Error::Store(StoreError::from(refused)))?,
        );
        let launched = self.launch_spec(task, &spec, Some(supervisor), slots);
        drop(hold);
        match launched {
            // Nobody knows how far it came; its directory does.
            Err(error @ Error::Unanswered) => self.after_silence(&new.id, error),
            other => other,
        }
    }

    /// Puts a task in its place among those that wait, and starts whoever may start.
    fn start_in_order(&self, request: &TaskRequest, new: &NewTask, hold: StartHold) -> Result<Task> {
        let id = &new.id;
        let (spec, task) = self.write_down(request, new)?;
        self.home.write_metadata(
            id,
            &Metadata {
                status: Status::Pending,
                ..hand_over::metadata(&spec, 1, &self.settings.redact, None)
            },
        );
        self.reconcile_unsettled()?;
        let mut picked = self.enqueue(request, task)?;
        let untended = picked.any_untended;
        fail_point("start-committed");
        let own = picked.to_launch.iter().position(|granted| granted.task.id == *id);
        let own = own.map(|at| picked.to_launch.remove(at));
        let launched = own.map(|granted| self.launch(granted));
        drop(hold);
        if self.launch_all(picked.to_launch) || untended {
            self.pump_queue();
        }
        match launched {
            Some(task) => task,
            None => {
                let mut task = self.stored(id)?;
                self.complete(&mut task)?;
                Ok(task)
            }
        }
    }

    /// Writes a task's row and decides who runs. Durable when it returns.
    fn enqueue(&self, request: &TaskRequest, mut task: Task) -> Result<Picked> {
        let limits = self.settings.queue;
        let store = self.durable()?;
        let transaction = store.begin(&self.home.tasks())?;
        if let Some(name) = &request.name
            && let Some(other) = transaction.live_named(&request.session, name)?
        {
            let status = transaction.task(&other)?.map_or(Status::Pending, |task| task.status).word();
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
        self.home.note_waiting()?;
        let picked = self.pick(&transaction, &request.session)?;
        let waits = !picked.to_launch.iter().any(|granted| granted.task.id == task.id);
        if waits && request.after.is_empty() && request.at_capacity == AtCapacity::Reject {
            return Err(Error::AtCapacity { limit: Pool::of(request.kind).limit(limits.limits()) });
        }
        next::commit(&self.home, transaction)?;
        Ok(picked)
    }

    fn live_named(&self, session: &str, name: &str) -> Result<Option<Task>> {
        let found = self.store()?.resolve_live_name(session, name)?;
        match found {
            // Before a name is called live, its bearer's state is made true.
            Some(id) => {
                self.reconcile_task(&id)?;
                Ok(self.store()?.task(&id, &self.home.tasks())?.filter(|task| !task.status.is_terminal()))
            }
            None => Ok(None),
        }
    }

    fn meet_name(&self, request: &TaskRequest, existing: Task) -> Result<Started> {
        match request.if_running {
            IfRunning::Refuse => Err(Error::NameLive {
                name: existing.name.clone().unwrap_or_default(),
                id: existing.id.to_string(),
                status: existing.status.word(),
            }),
            IfRunning::Return => Ok(Started { task: self.without_secrets(existing), existed: true }),
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
            let made = self.home.make_task(&id).map_err(Error::io("cannot make the task directory"))?;
            if let Some(hold) = made {
                fail_point("start-directory-made");
                let trace = self.new_trace(request, for_trace);
                return Ok((NewTask { id, trace }, hold));
            }
        }
    }

    /// Chooses the task's place in the trace of whoever asks. A `TRACEPARENT` that is none is as good as absent.
    fn new_trace(&self, request: &TaskRequest, random: &[u8]) -> TaskTrace {
        let mut bytes = [0; 32];
        bytes.copy_from_slice(random);
        let host = variable(&request.env, TRACEPARENT_VARIABLE)
            .and_then(|value| std::str::from_utf8(value.as_bytes()).ok()?.parse().ok());
        self.settings.traces.place(bytes, host)
    }

    /// Writes what to run into the task's directory. From here on the task survives this process.
    fn write_down(&self, request: &TaskRequest, new: &NewTask) -> Result<(TaskSpec, Task)> {
        let session = self.home.session(&request.session);
        let number = session.take_number(|| Ok(self.store()?.last_number(&request.session)?))?;
        let mut spec = self.spec_of(request, new, number, self.clock.now());
        if !request.foreground {
            spec.handle_number = Some(self.next_handle_number(&request.session, request.context.as_deref())?);
        }
        self.home.write_spec(&spec)?;
        fail_point("start-spec-written");
        let state = TaskState::Pending { run: 1, origin: RunOrigin::First };
        let task = new_task(&spec, state, &self.home.log(&spec.id));
        self.link_log(&task);
        Ok((spec, task))
    }

    /// Takes the number for the next short handle of a context, or else of a session.
    pub(crate) fn next_handle_number(&self, session: &str, context: Option<&str>) -> Result<u64> {
        let last = || Ok(self.store()?.last_handle_number(session, context)?);
        self.home.session(session).take_handle_number(context, last)
    }

    fn spec_of(&self, request: &TaskRequest, new: &NewTask, number: u64, now: Timestamp) -> TaskSpec {
        let NewTask { id, trace } = new;
        let mark = |name: &str, value: &str| EnvVar { name: name.into(), value: value.into() };
        let own = ["MEANWHILE_TASK_ID", "MEANWHILE_TASK_SESSION", PROGRESS_VARIABLE];
        let mut env: Vec<_> = request
            .env
            .iter()
            .filter(|var| !own.iter().any(|name| var.name.as_bytes() == name.as_bytes()))
            .cloned()
            .collect();
        env.push(mark(own[0], id.as_str()));
        env.push(mark(own[1], &request.session));
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
                &self.home,
                &request.session,
                request.lifetime,
                self.settings.session_grace_ms,
                now,
            ),
            batch: request.batch.clone(),
            after: request.after.clone(),
            priority: request.priority,
            queue: Some(self.settings.queue.limits()),
            log_header: self.settings.log_header,
            hooks: Some(self.settings.hooks.any()),
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

    /// Launches a task that was given its slots. Its failure is recorded, and frees them.
    pub(crate) fn launch(&self, granted: Granted) -> Result<Task> {
        let Granted { task, slots, hold: _hold } = granted;
        let id = task.id.clone();
        let launched = match self.home.spec(&id) {
            // It may have waited for long, and its spec is a file.
            Ok(spec) if differs_from_approval(&spec) => Err(Error::Denied {
                message: "not started: it is no longer what was approved".to_owned(),
                hint: "start it anew".to_owned(),
            }),
            Ok(spec) => self.launch_spec(task.clone(), &spec, None, slots),
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
    fn launch_spec(
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
            Err(Error::Spawn { code, .. }) if code == "busy" => Ok(task),
            Err(error) => Err(error),
        }
    }

    fn record_failure(&self, task: &Task, error: &Error) -> Result<()> {
        let message = match error {
            Error::Spawn { message, .. } => message.clone(),
            other => other.to_string(),
        };
        let run = task.state.run();
        let recorded = self.change(&task.id, |changing| match &changing.task().state {
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
    fn after_silence(&self, id: &TaskId, error: Error) -> Result<Task> {
        self.reconcile_started(id)?;
        let task = self.stored(id)?;
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
        let mut message = hand_over::spawn_message(&self.settings, spec, task.state.run())?;
        if let Some(waiting) = self.home.waiting_metadata(&task.id) {
            let (run, redact) = (task.state.run(), &self.settings.redact);
            message.metadata = Some(hand_over::metadata(spec, run, redact, Some(waiting)));
        }
        let supervisor = match ready {
            Some(supervisor) => supervisor,
            None => {
                let run = task.state.run();
                let supervisor = Supervisor::summon_for(&self.settings.programs, Purpose::Spawn, run)?;
                supervisor.send_to(&self.home.open_task(&task.id)?);
                supervisor
            }
        };
        supervisor.hand_over(&message, &slots.descriptors())
    }

    /// Removes every trace of a task that was refused.
    fn forget(&self, id: &TaskId) {
        // The files first, as when it is cleared: files without a row might come back. What cannot be removed now is no
        // task any more.
        self.home.begin_clearing(id);
        self.home.remove_task(id);
        let removed = self.transact(|transaction| {
            transaction.delete_all(std::slice::from_ref(id))?;
            Ok(transaction.delete_spans(id)?)
        });
        // What could not be removed now is swept by the next command.
        let _ = removed.and_then(|()| self.reconcile_unsettled());
        self.pump_queue();
    }
}
