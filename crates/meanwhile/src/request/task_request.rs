//! A caller's request for a task.

use std::path::PathBuf;

use mw_model::{
    AgentSpec, CommandSpec, Dependency, Dialect, EnvVar, Io, Lifetime, Limits, Place, QueueLimits, RawText,
    ReadyWhen, Schedule, SlotGroup, TaskGrant, TaskKind,
};

use super::approval::Approval;
use crate::settings::{AtCapacity, Settings};

/// What to do when a live task already has the requested name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IfRunning {
    /// Refuse the request.
    #[default]
    Refuse,
    /// Return the live task.
    Return,
    /// End the live task and run it again.
    Restart,
}

/// Which process delivers a session's notifications; see [`TaskRequest::reporter`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder(pub(crate) String);

/// A request for a task.
#[derive(Clone, Debug)]
pub struct TaskRequest {
    /// The kind of work.
    pub kind: TaskKind,
    /// The owner.
    pub session: String,
    /// What to execute.
    pub command: CommandSpec,
    /// The back-end to run it in.
    pub place: Place,
    /// The working directory.
    pub cwd: PathBuf,
    /// The whole environment. Variables that meanwhile sets for every task replace the caller's. A `TRACEPARENT` is
    /// the caller's span; the command gets the span of its run instead.
    pub env: Vec<EnvVar>,
    /// The file mode creation mask.
    pub umask: u32,
    /// The dialect of the request, which notifications and hooks use.
    pub dialect: Dialect,
    /// The context that its short handle is numbered in, if not its session.
    pub context: Option<String>,
    /// Whether the caller waits for it in the foreground. A foreground task has no short handle and no hooks unless
    /// it moves to the background.
    pub foreground: bool,
    /// A name, unique among the session's live tasks.
    pub name: Option<String>,
    /// What to do when the name is not unique.
    pub if_running: IfRunning,
    /// A description for people.
    pub description: Option<String>,
    /// How its streams are connected.
    pub io: Io,
    /// The limits of a run.
    pub limits: Limits,
    /// Whether it ends with its session.
    pub lifetime: Lifetime,
    /// The batch it belongs to.
    pub batch: Option<String>,
    /// Tasks that must complete first.
    pub after: Vec<Dependency>,
    /// When it starts, and whether it runs again.
    pub schedule: Schedule,
    /// The group whose slots it needs as well.
    pub group: Option<SlotGroup>,
    /// The priority. Higher starts earlier.
    pub priority: i32,
    /// The readiness condition, if any.
    pub ready: Option<ReadyWhen>,
    /// Whether it gets a descriptor to report progress on.
    pub progress_fd: bool,
    /// The session on whose behalf the owner works.
    pub parent_session: Option<String>,
    /// The message that led to it.
    pub parent_message: Option<String>,
    /// What to do when no slot is free.
    pub at_capacity: AtCapacity,
    /// Whether it needs no slot and is never queued, such as a foreground command.
    pub uncounted: bool,
    /// The process that reports the end itself, because it waits for the task. If this process dies first, the
    /// session gets the usual notification.
    pub reporter: Option<Holder>,
    /// The server that starts it; see [`SessionHolder::of_own_starts`](crate::engine::SessionHolder::of_own_starts).
    pub starter: Option<Holder>,
    /// The agent and its prompt. The command is then the agent's driver.
    pub agent: Option<Box<AgentSpec>>,
    /// Who approved it.
    pub approval: Approval,
    /// What it may do. Without a grant it is not confined.
    pub grant: Option<TaskGrant>,
    /// The expected duration or size, in the caller's words; shown in the approval request.
    pub expected: Option<String>,
}

impl TaskRequest {
    /// Chooses where a command runs, which also decides its kind. `added` are the variables that the start adds to the
    /// environment: elsewhere, the command gets only these, and those that the back-end passes on.
    pub fn run_on(&mut self, mut place: Place, added: &[(String, String)]) {
        if let Place::Backend(place) = &mut place {
            let passed = place.kind.passed_variables().iter();
            let names = passed.chain(added.iter().map(|(name, _)| name));
            place.variables = names.map(|name| RawText::from(name.as_str())).collect();
        }
        if self.agent.is_none() {
            self.kind = place.task_kind();
        }
        self.place = place;
    }

    /// Returns the limits that apply to the task while it is queued.
    pub(crate) fn queue_limits(&self, settings: &Settings) -> QueueLimits {
        match self.uncounted {
            true => QueueLimits::NONE,
            false => QueueLimits { group: self.group.clone(), ..settings.queue.limits() },
        }
    }

    /// Returns a request for a command with the default limits. All fields can be changed before the start.
    #[must_use]
    pub fn new(session: &str, command: CommandSpec, cwd: PathBuf, env: Vec<EnvVar>) -> Self {
        Self {
            kind: TaskKind::Shell,
            session: session.to_owned(),
            command,
            place: Place::Process,
            cwd,
            env,
            umask: 0o022,
            dialect: Dialect::Canonical,
            context: None,
            foreground: false,
            name: None,
            if_running: IfRunning::Refuse,
            description: None,
            io: Io::Pipes,
            limits: Limits::default(),
            lifetime: Lifetime::Session,
            batch: None,
            after: Vec::new(),
            schedule: Schedule::default(),
            group: None,
            priority: 0,
            ready: None,
            progress_fd: false,
            parent_session: None,
            parent_message: None,
            at_capacity: AtCapacity::Queue,
            uncounted: false,
            reporter: None,
            starter: None,
            agent: None,
            approval: Approval::User,
            grant: None,
            expected: None,
        }
    }
}
