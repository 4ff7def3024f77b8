//! Where calls are carried out: one session of an open home.

use std::cell::Cell;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use meanwhile::engine::{
    Approval, Asked, Asker, Clock as _, Passage, Policy, Runtime, SystemClock, TaskRequest, Teller, is_shared,
};
use meanwhile::{AtCapacity, Error, Filter, Scope, Task};
use mw_model::approval::Proposal;
use mw_model::{
    Dialect, EnvVar, Lifetime, Limits, RawText, TRACEPARENT_VARIABLE, TaskId, TraceParent, context_stamp,
};
use mw_policy::Tool;
use serde_json::{Map, Value};

use crate::delegation::AgentSettings;
use crate::toolset::USUAL_WAIT_MS;

/// How often a blocked call checks its caller.
pub const LOOK_EVERY: Duration = Duration::from_secs(1);

/// The settings for all calls of a session.
#[derive(Clone)]
pub struct Premises {
    /// The session that owns the tasks.
    pub session: String,
    /// The default working directory of commands.
    pub cwd: PathBuf,
    /// The environment of commands.
    pub env: Vec<EnvVar>,
    /// Their file mode creation mask.
    pub umask: u32,
    /// The shell that runs scripts.
    pub shell: RawText,
    /// The default limits of tasks.
    pub limits: Limits,
    /// Whether tasks end with their session.
    pub lifetime: Lifetime,
    /// Whether the session ends with its client.
    pub session_end: SessionEnd,
    /// What a start does when no slot is free.
    pub at_capacity: AtCapacity,
    /// When this context started, in the format of zidane's log names: `20260523-024147-123`.
    pub context_stamp: String,
    /// Maximum size of the output in one reply, in bytes.
    pub reply_bytes: u64,
    /// How many of the last bytes of a stream `bg_output` reads; 0 = all.
    pub stream_bytes: u64,
    /// Maximum time that a call may block.
    pub longest_call: Duration,
    /// Whether background tasks are offered.
    pub background: Background,
    /// The other agents that are available, if any.
    pub agents: Option<Arc<AgentSettings>>,
    /// The policy that decides about calls.
    pub policy: Policy,
}

impl Premises {
    /// The default settings for a directory and an environment, as `mw mcp` has them.
    #[must_use]
    pub fn new(session: impl Into<String>, cwd: PathBuf, env: Vec<EnvVar>) -> Self {
        Self {
            session: session.into(),
            cwd,
            env,
            umask: 0o022,
            shell: "/bin/sh".into(),
            limits: Limits::default(),
            lifetime: Lifetime::Session,
            session_end: SessionEnd::Keep,
            at_capacity: AtCapacity::Queue,
            context_stamp: context_stamp(SystemClock.now()),
            reply_bytes: 8 << 10,
            stream_bytes: 1 << 20,
            longest_call: Duration::from_secs(240),
            background: Background::On,
            agents: None,
            policy: Policy::default(),
        }
    }

    /// Returns the lifetime of tasks that are started with these settings.
    #[must_use]
    pub fn lifetime_of_starts(&self, runtime: &Runtime) -> Lifetime {
        match (self.lifetime, self.session_end) {
            (Lifetime::Session, SessionEnd::Kill) => Lifetime::Client,
            (Lifetime::Session, SessionEnd::Keep) if !runtime.sessions().is_hosted(&self.session) => {
                Lifetime::Kept
            }
            (lifetime, _) => lifetime,
        }
    }
}

/// What happens to a session when its client disconnects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionEnd {
    /// It continues, and so do its tasks.
    Keep,
    /// It ends after a grace period, and its tasks with it, unless a client reconnects.
    Kill,
}

/// Whether background tasks are offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Background {
    /// It is.
    On,
    /// They are not: neither schemas nor descriptions mention them.
    Off,
}

/// The caller of a blocking call.
pub trait Caller {
    /// Gets the state of the tasks about every second, and decides whether the call continues.
    fn meanwhile(&self, tasks: &[Task]) -> Patience;

    /// Gets the tasks whose ends the reply will report, before a wait starts. They must not be reported in another way
    /// meanwhile.
    fn awaits(&self, _: &[TaskId]) {}

    /// Returns how long it may take until a call notices that it was cancelled.
    fn look_every(&self) -> Duration {
        LOOK_EVERY
    }

    /// Asks for approval, see [`Asker::ask`]. By default the caller cannot ask a person.
    fn ask(&self, _: &Proposal, _: &mut dyn FnMut() -> bool) -> Asked {
        Asked::Elsewhere
    }
}

/// Whether a blocking call continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Patience {
    /// It does.
    GoOn,
    /// The caller has disconnected but may come back. Running tasks are left alone.
    Leave,
    /// The caller has cancelled. The wait ends, and so does a foreground command.
    GiveUp,
}

/// A caller that waits until the call ends.
#[derive(Clone, Copy, Debug)]
pub struct Patient;

impl Caller for Patient {
    fn meanwhile(&self, _: &[Task]) -> Patience {
        Patience::GoOn
    }
}

/// The context of one call: the engine, the session's settings, the caller and the tool.
pub struct CallContext<'a> {
    /// The engine.
    pub runtime: &'a Runtime,
    /// The settings of the session.
    pub premises: &'a Premises,
    /// The caller that waits for the reply.
    pub caller: &'a dyn Caller,
    /// The process that delivers the session's notifications, if there is one: it does not deliver what a reply
    /// reports.
    pub teller: Option<&'a Teller>,
    /// The dialect of the tool that is called.
    pub dialect: Dialect,
    /// The tool that is called, for policy.
    pub tool: Tool,
    /// Whether this call may leave a task running.
    pub background: Background,
    /// The default timeout of a wait.
    pub wait_ms: u64,
    /// The message of the conversation that the call belongs to, if the host names it.
    pub parent_message: Option<&'a str>,
    /// The trace span that is the parent of background tasks, if not the one in the environment.
    pub trace: Option<&'a CallTrace>,
}

/// The place of a call in a trace: a task that it starts in the background is a child of the turn, and the call is a
/// child of the task.
#[derive(Debug)]
pub struct CallTrace {
    /// The turn.
    pub turn: TraceParent,
    /// The run that the call has started.
    pub started: Cell<Option<TraceParent>>,
}

/// Passes approval requests to the caller.
struct ByCaller<'a>(&'a dyn Caller);

impl Asker for ByCaller<'_> {
    fn ask(&self, proposal: &Proposal, answered: &mut dyn FnMut() -> bool) -> Asked {
        self.0.ask(proposal, answered)
    }

    fn still_waits(&self) -> bool {
        self.0.meanwhile(&[]) == Patience::GoOn
    }
}

impl<'a> CallContext<'a> {
    /// Creates the context for calls of a session.
    #[must_use]
    pub const fn new(runtime: &'a Runtime, premises: &'a Premises, caller: &'a dyn Caller) -> Self {
        let (tool, background) = (Tool::UNKNOWN, premises.background);
        let (wait_ms, dialect) = (USUAL_WAIT_MS, Dialect::Canonical);
        let (teller, parent_message, trace) = (None, None, None);
        Self { runtime, premises, caller, teller, dialect, tool, background, wait_ms, parent_message, trace }
    }

    /// Sets the parent span of a task that is started in the background.
    pub(crate) fn place(&self, env: &mut Vec<EnvVar>) {
        if let Some(trace) = self.trace {
            put_below(env, trace.turn);
        }
    }

    /// Records the task that was started in the background.
    pub(crate) fn note_started(&self, task: &Task) {
        if let Some(trace) = self.trace {
            trace.started.set(task.trace.map(|own| own.for_command(1)));
        }
    }

    /// Checks whether a command may be started.
    pub(crate) fn pass_start(
        &self,
        request: &TaskRequest,
        added: &[(String, String)],
        tool: Tool,
    ) -> Result<Approval, Error> {
        let asker = ByCaller(self.caller);
        let passage = Passage { tool, policy: &self.premises.policy, asker: &asker };
        self.runtime.approvals().pass_start(request, added, &passage)
    }

    /// Checks whether a call that starts no command is allowed; `given` are its arguments.
    pub(crate) fn pass_call(&self, given: &Map<String, Value>) -> Result<(), Error> {
        let asker = ByCaller(self.caller);
        let passage = Passage { tool: self.tool, policy: &self.premises.policy, asker: &asker };
        let text = format!("{} {}", self.tool.name, Value::Object(given.clone()));
        self.runtime.approvals().pass_deed(&self.premises.session, &self.premises.cwd, &text, &passage)
    }

    /// Returns the timeout of a wait.
    pub(crate) fn wait(&self, asked_ms: Option<u64>) -> Duration {
        Duration::from_millis(asked_ms.unwrap_or(self.wait_ms))
    }

    /// Returns the context in which tasks are numbered, if the dialect numbers them.
    pub(crate) fn task_context(&self) -> Option<&str> {
        self.dialect.numbers_tasks().then_some(self.premises.context_stamp.as_str())
    }

    /// Returns the name under which this server stores a reader's position in the output of tasks. Another server of
    /// the session has its own.
    pub(crate) fn reader(&self, name: &str) -> String {
        format!("{name} {} {}", self.premises.context_stamp, std::process::id())
    }

    /// The tasks that a call may see.
    #[must_use]
    pub fn scope(&self) -> Scope {
        Scope::Session(self.premises.session.clone())
    }

    /// Returns the lifetime of a task that is started here. It is stored with the task, because the reply mentions it.
    pub(crate) fn lifetime(&self) -> Lifetime {
        self.premises.lifetime_of_starts(self.runtime)
    }

    /// Returns whether a task ends with the session, as far as known.
    pub(crate) fn ends_with_session(&self, task: &Task) -> bool {
        match task.lifetime {
            Lifetime::Client => true,
            Lifetime::Session => self.runtime.sessions().is_hosted(&self.premises.session),
            Lifetime::Kept | Lifetime::Detached => false,
        }
    }

    /// Describes what happens to a task at the end of the session.
    pub(crate) fn end_in_words(&self, task: &Task) -> &'static str {
        if self.ends_with_session(task) {
            "It ends with this session."
        } else {
            "It keeps running when this session ends."
        }
    }

    /// The requester, for records.
    #[must_use]
    pub fn requester(&self) -> String {
        format!("session {}", self.premises.session)
    }

    /// Finds a task of the session by its handle. A prefix of an id is not accepted.
    ///
    /// # Errors
    /// When there is none, or more than one.
    pub fn resolve(&self, handle: &str) -> Result<TaskId, Error> {
        match self.task_context() {
            Some(context) => {
                self.runtime.reader().resolve_in_context(handle, &self.premises.session, context)
            }
            None => self.runtime.lookup().resolve_exact(handle, &self.scope()),
        }
    }

    /// Returns one task of the session.
    ///
    /// # Errors
    /// As [`CallContext::resolve`].
    pub fn task(&self, handle: &str) -> Result<Task, Error> {
        self.runtime.tasks().task(self.resolve(handle)?.as_str(), &self.scope())
    }

    /// Returns whether a task belongs to this agent. If independent agents share a session, tasks of another live agent
    /// do not.
    #[must_use]
    pub fn is_own(&self, task: &Task) -> bool {
        let own = |teller| self.runtime.notifications().is_of(teller, task);
        !is_shared(&self.premises.session) || self.teller.is_none_or(own)
    }

    /// Returns the live tasks of the session, as many as a refusal can list.
    #[must_use]
    pub fn live(&self) -> Vec<Task> {
        const MOST: u32 = 20;
        let filter = Filter { limit: MOST, ..Filter::new(self.scope()) };
        let page = self.runtime.tasks().list(&filter);
        let tasks = page.map(|page| page.tasks).unwrap_or_default();
        tasks.into_iter().filter(|task| !task.status.is_terminal()).collect()
    }
}

/// Sets the parent span of tasks that are started with an environment.
pub fn put_below(env: &mut Vec<EnvVar>, span: TraceParent) {
    env.retain(|var| var.name.as_bytes() != TRACEPARENT_VARIABLE.as_bytes());
    env.push(EnvVar { name: TRACEPARENT_VARIABLE.into(), value: span.to_string().as_str().into() });
}
