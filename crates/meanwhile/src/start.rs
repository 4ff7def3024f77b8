//! From a request to a running task, or to a place in the queue, or to a refusal that leaves nothing.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use mw_model::{
    Cause, CommandSpec, EnvVar, Event, Io, Lifetime, Limits, Process, RawText, RunOrigin, SPEC_VERSION,
    Status, TaskId, TaskKind, TaskSpec, TaskState, Timestamp, next_state,
};

use crate::bell;
use crate::ending::end_unsupervised;
use crate::error::{Error, Result};
use crate::fail_point::fail_point;
use crate::home::StartHold;
use crate::launch::{self, Purpose, Supervisor};
use crate::queue::{self, Picked};
use crate::runtime::Runtime;
use crate::settings::AtCapacity;
use crate::store::new_task;
use crate::task::{Scope, Task};

/// What to do when a task's name belongs to a live one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IfRunning {
    /// Refuse.
    #[default]
    Refuse,
    /// Return the live one.
    Return,
    /// End the live one and run it again.
    Restart,
}

/// A task as it is asked for.
#[derive(Clone, Debug)]
pub struct TaskRequest {
    /// What sort of work it is.
    pub kind: TaskKind,
    /// The owner.
    pub session: String,
    /// What to execute.
    pub command: CommandSpec,
    /// Where.
    pub cwd: PathBuf,
    /// The whole environment; two marks of ours are added.
    pub env: Vec<EnvVar>,
    /// File mode creation mask.
    pub umask: u32,
    /// A name unique among the session's live tasks.
    pub name: Option<String>,
    /// What to do when it is not.
    pub if_running: IfRunning,
    /// A line for people.
    pub description: Option<String>,
    /// How its streams are connected.
    pub io: Io,
    /// Limits.
    pub limits: Limits,
    /// Whether it ends with its session.
    pub lifetime: Lifetime,
    /// The batch it belongs to.
    pub batch: Option<String>,
    /// Tasks that must complete first.
    pub after: Vec<TaskId>,
    /// Higher starts earlier.
    pub priority: i32,
    /// What to do when no slot is free.
    pub at_capacity: AtCapacity,
    /// Who approved it: `user`, or `auto` when nobody had to.
    pub approved_by: String,
}

/// The answer to a start.
#[derive(Clone, Debug)]
pub struct Started {
    /// The task; pending when it waits.
    pub task: Task,
    /// Whether it ran already and was only found.
    pub existed: bool,
}

impl TaskRequest {
    /// Refuses what could never run.
    fn check(&self) -> Result<()> {
        let invalid = |message: &str, hint: &str| {
            Err(Error::Invalid { message: message.to_owned(), hint: hint.to_owned() })
        };
        let argv = self.command.argv();
        let blank = match &self.command {
            CommandSpec::Shell { script, .. } => script.to_lossy().trim().is_empty(),
            CommandSpec::Argv(words) => words.first().is_none_or(|word| word.as_bytes().is_empty()),
        };
        if blank {
            return invalid("the command is empty", "write what to run: mw start 'make test'");
        }
        let texts = argv.iter().chain(self.env.iter().flat_map(|var| [&var.name, &var.value]));
        if texts.into_iter().any(|text| text.as_bytes().contains(&0)) {
            return invalid(
                "the command or its environment holds a NUL byte",
                "remove it: no program can receive one",
            );
        }
        if let CommandSpec::Shell { script, .. } = &self.command
            && let Some(quote) = mw_model::unclosed_quote(&script.to_lossy())
        {
            return invalid(
                &format!("the script has an unclosed {quote}"),
                "close the quote, or escape it with a backslash",
            );
        }
        if let Some(name) = &self.name {
            let odd = name.trim().is_empty()
                || name.len() > 100
                || name.chars().any(char::is_control)
                || name.parse::<TaskId>().is_ok();
            if odd {
                return invalid(
                    "that name cannot be used",
                    "use up to 100 printable characters that do not look like an id",
                );
            }
        }
        if self.limits.output_cap > 0 && self.limits.output_cap < 512 {
            return invalid("an output cap under 512 bytes leaves no room", "use 512 or more, or 0 for none");
        }
        self.check_directory()?;
        let path =
            self.env.iter().rev().find(|var| var.name.as_bytes() == b"PATH").map(|var| var.value.as_bytes());
        launch::check_command(&self.command, &RawText::from(self.cwd.as_os_str().as_bytes()), path)
    }

    fn check_directory(&self) -> Result<()> {
        let refuse = |why: &str| Error::Invalid {
            message: format!("the working directory {} {why}", self.cwd.display()),
            hint: "name an existing directory with --cwd".to_owned(),
        };
        match fs::metadata(&self.cwd) {
            Ok(found) if !found.is_dir() => Err(refuse("is not a directory")),
            Ok(_) if rustix::fs::access(&self.cwd, rustix::fs::Access::EXEC_OK).is_err() => {
                Err(refuse("may not be entered"))
            }
            Ok(_) => Ok(()),
            Err(error) => Err(refuse(&format!("cannot be used: {error}"))),
        }
    }
}

impl Runtime {
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
        let (id, hold) = self.new_directory(request.kind)?;
        let started = self.start_in(request, &id, &hold.path);
        drop(hold);
        if started.is_err() {
            self.forget(&id);
        }
        started
    }

    fn start_in(&self, request: &TaskRequest, id: &TaskId, staged: &Path) -> Result<Started> {
        // Gets ready while the task is written down; goes away by itself when it is not needed.
        let mut supervisor = if self.home.is_crowded() {
            None
        } else {
            Some(Supervisor::summon(&self.settings, Purpose::Spawn, staged, 1)?)
        };
        let (spec, picked) = self.write_row(request, id)?;
        self.home.write_spec(&spec, staged)?;
        fail_point("start-spec-written");
        self.home.unstage_task(id).map_err(Error::io("cannot put the task directory in its place"))?;
        fail_point("start-unstaged");
        let mut own = None;
        for task in picked.to_launch {
            if task.id == *id {
                own = Some(self.launch_spec(task, &spec, supervisor.take())?);
            } else {
                self.home.wait_for_staging(&task.id);
                let hold = self.home.hold_start(&task.id);
                // Its failure is its own: recorded with it.
                let _ = self.launch(task);
                drop(hold);
            }
        }
        bell::ring(&self.home);
        let task = match own {
            Some(task) => task,
            None => {
                self.home.set_crowded(true);
                let mut task = self.stored(id)?;
                task.queue_position = Some(self.store()?.queue_position(&task)?);
                task
            }
        };
        Ok(Started { task, existed: false })
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
            IfRunning::Return => Ok(Started { task: existing, existed: true }),
            IfRunning::Restart => {
                let task = self.restart(existing.id.as_str(), &Scope::Session(request.session.clone()))?;
                Ok(Started { task, existed: true })
            }
        }
    }

    fn new_directory(&self, kind: TaskKind) -> Result<(TaskId, StartHold)> {
        loop {
            let mut random = [0; 8];
            getrandom::fill(&mut random)
                .map_err(|error| Error::io("no random numbers")(std::io::Error::other(error.to_string())))?;
            let id = TaskId::from_random(kind, u64::from_le_bytes(random));
            let staged = self.home.stage_task(&id).map_err(Error::io("cannot make the task directory"))?;
            if let Some(hold) = staged {
                fail_point("start-directory-made");
                return Ok((id, hold));
            }
        }
    }

    /// Writes the row and reserves a slot if there is one. Durable when it returns.
    fn write_row(&self, request: &TaskRequest, id: &TaskId) -> Result<(TaskSpec, Picked)> {
        let now = self.clock.now();
        let transaction = self.store()?.begin(&self.home.tasks())?;
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
        let limits = self.settings.queue;
        let first = !transaction.any_waiting(&request.session)?;
        let room =
            first && request.after.is_empty() && queue::has_room(&transaction, &request.session, limits)?;
        if !room && request.after.is_empty() && request.at_capacity == AtCapacity::Reject {
            return Err(Error::AtCapacity { limit: limits.max_running });
        }
        let number = transaction.take_number(&request.session, None)?;
        let spec = self.spec_of(request, id.clone(), number, now);
        let state = TaskState::Pending { run: 1, origin: RunOrigin::First };
        let mut task = new_task(&spec, state, &self.home.log(&spec.id));
        let picked = if room {
            transaction.insert_reserved(&mut task, now)?;
            Picked { to_launch: vec![task], any_ended: false }
        } else {
            transaction.insert(&task)?;
            queue::pick(&self.home, &transaction, &request.session, limits, now)?
        };
        transaction.commit()?;
        fail_point("start-committed");
        Ok((spec, picked))
    }

    fn spec_of(&self, request: &TaskRequest, id: TaskId, number: u64, now: Timestamp) -> TaskSpec {
        let mark = |name: &str, value: &str| EnvVar { name: name.into(), value: value.into() };
        let own = ["MEANWHILE_TASK_ID", "MEANWHILE_TASK_SESSION"];
        let mut env: Vec<_> = request
            .env
            .iter()
            .filter(|var| !own.iter().any(|name| var.name.as_bytes() == name.as_bytes()))
            .cloned()
            .collect();
        env.push(mark(own[0], id.as_str()));
        env.push(mark(own[1], &request.session));
        TaskSpec {
            version: SPEC_VERSION,
            id,
            kind: request.kind,
            session: request.session.clone(),
            number,
            name: request.name.clone(),
            description: request.description.clone(),
            command: request.command.clone(),
            cwd: request.cwd.as_os_str().as_bytes().into(),
            env,
            umask: request.umask,
            io: request.io,
            limits: request.limits.clone(),
            lifetime: request.lifetime,
            batch: request.batch.clone(),
            after: request.after.clone(),
            priority: request.priority,
            created_at: now,
            approved_by: request.approved_by.clone(),
            approved_at: now,
        }
    }

    /// Launches a task that holds a slot. Its failure is recorded, and frees the slot.
    pub(crate) fn launch(&self, task: Task) -> Result<Task> {
        // Its row is there before its directory; a slot may be free in between.
        self.home.wait_for_staging(&task.id);
        self.sweep_abandoned_starts()?;
        match self.home.spec(&task.id) {
            Ok(spec) => self.launch_spec(task, &spec, None),
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
    fn launch_spec(&self, mut task: Task, spec: &TaskSpec, ready: Option<Supervisor>) -> Result<Task> {
        let launched = self.try_launch(&task, spec, ready);
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
            // Nobody knows how far it came; its directory does.
            Err(Error::Unanswered) => self.after_silence(&task.id),
            Err(error) => {
                self.record_failure(&task, &error)?;
                Err(error)
            }
        }
    }

    fn record_failure(&self, task: &Task, error: &Error) -> Result<()> {
        let transaction = self.store()?.begin(&self.home.tasks())?;
        let Some(mut stored) = transaction.task(&task.id)? else { return Ok(()) };
        if matches!(stored.state, TaskState::Starting { .. }) && stored.state.run() == task.state.run() {
            let message = match error {
                Error::Spawn { message, .. } => message.clone(),
                other => other.to_string(),
            };
            let cause = Cause::SpawnFailed { message };
            end_unsupervised(&self.home, &transaction, &mut stored, cause, self.clock.now())?;
            transaction.commit()?;
        }
        Ok(())
    }

    /// The supervisor was killed before it answered. What its directory shows decides; a command that
    /// was not executed waits for the next command, which starts it.
    fn after_silence(&self, id: &TaskId) -> Result<Task> {
        self.reconcile_started(id)?;
        let task = self.stored(id)?;
        match task.state {
            TaskState::Pending { .. } | TaskState::Starting { .. } => Err(Error::Unanswered),
            TaskState::Running { .. } | TaskState::Cancelling { .. } | TaskState::Ended { .. } => Ok(task),
        }
    }

    fn try_launch(
        &self,
        task: &Task,
        spec: &TaskSpec,
        ready: Option<Supervisor>,
    ) -> Result<(Process, Timestamp)> {
        let message = launch::spawn_message(&self.settings, spec)?;
        let supervisor = match ready {
            Some(supervisor) => supervisor,
            None => Supervisor::summon(
                &self.settings,
                Purpose::Spawn,
                &self.home.task(&task.id),
                task.state.run(),
            )?,
        };
        supervisor.hand_over(&message)
    }

    /// Removes every trace of a task that was refused.
    fn forget(&self, id: &TaskId) {
        let removed = self.store().and_then(|store| {
            let transaction = store.begin(&self.home.tasks())?;
            transaction.delete(id)?;
            Ok(transaction.commit()?)
        });
        // What could not be removed now is swept by the next command.
        let _ = removed;
        self.home.remove_task(id);
        self.pump_queue();
    }
}
