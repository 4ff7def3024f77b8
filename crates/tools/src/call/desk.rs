//! Where calls are carried out: one session of an open home.

use std::cell::Cell;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use meanwhile::{
    Approval, Asked, Asker, AtCapacity, Error, Filter, Passage, Policy, Runtime, Scope, Task, TaskRequest,
    Teller, is_shared,
};
use mw_model::approval::Proposal;
use mw_model::{Dialect, EnvVar, Lifetime, Limits, RawText, TRACEPARENT_VARIABLE, TaskId, TraceParent};
use mw_policy as policy;
use serde_json::{Map, Value};

use crate::delegation::AgentSettings;
use crate::toolset::USUAL_WAIT_MS;

/// How often whoever waits is looked after.
pub const LOOK_EVERY: Duration = Duration::from_secs(1);

/// What holds for all calls of a session.
#[derive(Clone)]
pub struct Premises {
    /// Whose tasks they are.
    pub session: String,
    /// Where commands run unless a call says otherwise.
    pub cwd: PathBuf,
    /// The environment of commands.
    pub env: Vec<EnvVar>,
    /// Their file mode creation mask.
    pub umask: u32,
    /// The shell that runs scripts.
    pub shell: RawText,
    /// Limits of tasks that ask for none of their own.
    pub limits: Limits,
    /// Whether tasks end with their session.
    pub lifetime: Lifetime,
    /// Whether the session ends with its client.
    pub session_end: SessionEnd,
    /// What a start does when no slot is free.
    pub at_capacity: AtCapacity,
    /// When this context began, as it stands in the names of zidane's logs: `20260523-024147-123`.
    pub context_stamp: String,
    /// Most bytes of output in one reply.
    pub reply_bytes: u64,
    /// How many of the last bytes of a stream `bg_output` looks at; 0 = all.
    pub stream_bytes: u64,
    /// Longest time one call may block.
    pub longest_call: Duration,
    /// Whether background work is offered.
    pub background: Background,
    /// Which other agents can be asked, if any.
    pub agents: Option<Arc<AgentSettings>>,
    /// What calls are decided by.
    pub policy: Policy,
}

impl Premises {
    /// Returns how long a task lives that is started so.
    #[must_use]
    pub fn lifetime_of_starts(&self, runtime: &Runtime) -> Lifetime {
        match (self.lifetime, self.session_end) {
            (Lifetime::Session, SessionEnd::Kill) => Lifetime::Client,
            (Lifetime::Session, SessionEnd::Keep) if !runtime.is_hosted(&self.session) => Lifetime::Kept,
            (lifetime, _) => lifetime,
        }
    }
}

/// What becomes of a session when its client is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionEnd {
    /// It goes on, and so do its tasks.
    Keep,
    /// It ends some time after, and its tasks end with it, unless a client comes back.
    Kill,
}

/// Whether background work is offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Background {
    /// It is.
    On,
    /// It is not: neither schemas nor descriptions speak of it.
    Off,
}

/// Whoever made the call, while it blocks.
pub trait Caller {
    /// Hears how things stand, about every second, and says whether to go on.
    fn meanwhile(&self, tasks: &[Task]) -> Patience;

    /// Hears before a wait begins which ends the reply will tell. Who tells them in another way meanwhile leaves them to
    /// the reply.
    fn awaits(&self, _: &[TaskId]) {}

    /// Returns how long it may take until a call notices that it was broken off.
    fn look_every(&self) -> Duration {
        LOOK_EVERY
    }

    /// Is asked whether something may be done, as [`Asker::ask`] says. By default there is no way to a person
    /// from here.
    fn ask(&self, _: &Proposal, _: &mut dyn FnMut() -> bool) -> Asked {
        Asked::Elsewhere
    }
}

/// Whether a call that blocks goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Patience {
    /// It does.
    GoOn,
    /// The caller no longer listens, but may come back. What runs is left alone.
    Leave,
    /// The caller no longer wants it. Waiting ends; a command in the foreground does, too.
    GiveUp,
}

/// A caller who waits patiently to the end.
#[derive(Clone, Copy, Debug)]
pub struct Patient;

impl Caller for Patient {
    fn meanwhile(&self, _: &[Task]) -> Patience {
        Patience::GoOn
    }
}

/// Where one call is carried out.
pub struct Desk<'a> {
    /// The engine.
    pub runtime: &'a Runtime,
    /// What holds for the session.
    pub premises: &'a Premises,
    /// Who waits for the answer.
    pub caller: &'a dyn Caller,
    /// Who tells the session its news, if anybody does: what a reply tells is not told beside it then.
    pub teller: Option<&'a Teller>,
    /// The dialect of the tool that is called.
    pub dialect: Dialect,
    /// The tool that is called, for policy.
    pub tool: policy::Tool,
    /// Whether this call may leave something behind that runs.
    pub background: Background,
    /// How long a wait takes that is given no time.
    pub wait_ms: u64,
    /// The message in the conversation that the call belongs to, if the host says which.
    pub parent_message: Option<&'a str>,
    /// Where background work stands in the trace, if not below whatever its environment names.
    pub trace: Option<&'a CallTrace>,
}

/// The place of a call in a trace: what it starts in the background stands below the turn, and the call below that.
#[derive(Debug)]
pub struct CallTrace {
    /// The turn.
    pub turn: TraceParent,
    /// The run that the call has started, once it has.
    pub started: Cell<Option<TraceParent>>,
}

/// The gate's way to whoever made the call.
struct ByCaller<'a>(&'a dyn Caller);

impl Asker for ByCaller<'_> {
    fn ask(&self, proposal: &Proposal, answered: &mut dyn FnMut() -> bool) -> Asked {
        self.0.ask(proposal, answered)
    }

    fn still_waits(&self) -> bool {
        self.0.meanwhile(&[]) == Patience::GoOn
    }
}

impl<'a> Desk<'a> {
    /// Where calls of a session are carried out.
    #[must_use]
    pub const fn new(runtime: &'a Runtime, premises: &'a Premises, caller: &'a dyn Caller) -> Self {
        // Until a tool is called, the strictest class stands for it.
        let tool = policy::Tool { name: "", class: policy::ToolClass::Delegates };
        let background = premises.background;
        let (wait_ms, dialect) = (USUAL_WAIT_MS, Dialect::Canonical);
        let (teller, parent_message, trace) = (None, None, None);
        Self { runtime, premises, caller, teller, dialect, tool, background, wait_ms, parent_message, trace }
    }

    /// Puts what is started in the background into its place in the trace.
    pub(crate) fn place(&self, env: &mut Vec<EnvVar>) {
        if let Some(trace) = self.trace {
            put_below(env, trace.turn);
        }
    }

    /// Notes what was started in the background.
    pub(crate) fn note_started(&self, task: &Task) {
        if let Some(trace) = self.trace {
            trace.started.set(task.trace.map(|own| own.for_command(1)));
        }
    }

    /// Lets a start pass the gate, or not.
    pub(crate) fn pass_start(
        &self,
        request: &TaskRequest,
        added: &[(String, String)],
        tool: policy::Tool,
    ) -> Result<Approval, Error> {
        let asker = ByCaller(self.caller);
        let passage = Passage { tool, policy: &self.premises.policy, asker: &asker };
        self.runtime.pass_start(request, added, &passage)
    }

    /// Lets a call pass that starts no command; `given` is what it was called with.
    pub(crate) fn pass_call(&self, given: &Map<String, Value>) -> Result<(), Error> {
        let asker = ByCaller(self.caller);
        let passage = Passage { tool: self.tool, policy: &self.premises.policy, asker: &asker };
        let text = format!("{} {}", self.tool.name, Value::Object(given.clone()));
        self.runtime.pass_deed(&self.premises.session, &self.premises.cwd, &text, &passage)
    }

    /// Returns how long a call that waits may take.
    pub(crate) fn wait(&self, asked_ms: Option<u64>) -> Duration {
        Duration::from_millis(asked_ms.unwrap_or(self.wait_ms))
    }

    /// Returns the context in which the tasks of a call are counted, where its dialect counts them so.
    pub(crate) fn context(&self) -> Option<&str> {
        (self.dialect == Dialect::Zidane).then_some(self.premises.context_stamp.as_str())
    }

    /// Returns by what name this server keeps a reader's place in the output of tasks: another server of the session
    /// keeps its own.
    pub(crate) fn reader(&self, name: &str) -> String {
        format!("{name} {} {}", self.premises.context_stamp, std::process::id())
    }

    /// Whose tasks a call may see.
    #[must_use]
    pub fn scope(&self) -> Scope {
        Scope::Session(self.premises.session.clone())
    }

    /// Returns how long a task lives that is started here: what the reply says of that is part of the task.
    pub(crate) fn lifetime(&self) -> Lifetime {
        self.premises.lifetime_of_starts(self.runtime)
    }

    /// Tells whether a task ends with the session, as far as that is known here.
    pub(crate) fn ends_with_session(&self, task: &Task) -> bool {
        match Lifetime::from_word(&task.lifetime) {
            Some(Lifetime::Client) => true,
            Some(Lifetime::Session) => self.runtime.is_hosted(&self.premises.session),
            Some(Lifetime::Kept | Lifetime::Detached) | None => false,
        }
    }

    /// Says what becomes of a task at the end of the session.
    pub(crate) fn end_in_words(&self, task: &Task) -> &'static str {
        if self.ends_with_session(task) {
            "It ends when this session does."
        } else {
            "It goes on when this session ends."
        }
    }

    /// Who is asking, for the record.
    #[must_use]
    pub fn requester(&self) -> String {
        format!("session {}", self.premises.session)
    }

    /// Finds the task of the session that a model means. The beginning of an id means none.
    ///
    /// # Errors
    /// When there is none, or more than one.
    pub fn resolve(&self, handle: &str) -> Result<TaskId, Error> {
        match self.context() {
            Some(context) => self.runtime.resolve_in_context(handle, &self.premises.session, context),
            None => self.runtime.resolve_exact(handle, &self.scope()),
        }
    }

    /// Returns one task of the session.
    ///
    /// # Errors
    /// As [`Desk::resolve`].
    pub fn task(&self, handle: &str) -> Result<Task, Error> {
        self.runtime.task(self.resolve(handle)?.as_str(), &self.scope())
    }

    /// Tells whether a task is this agent's own: where agents that know nothing of each other share a session, another
    /// living one's is not.
    #[must_use]
    pub fn is_own(&self, task: &Task) -> bool {
        let own = |teller| self.runtime.is_of(teller, task);
        !is_shared(&self.premises.session) || self.teller.is_none_or(own)
    }

    /// Returns the session's tasks that are not over, as far as a refusal can name them.
    #[must_use]
    pub fn live(&self) -> Vec<Task> {
        const MOST: u32 = 20;
        let filter = Filter { limit: MOST, ..Filter::new(self.scope()) };
        let page = self.runtime.list(&filter);
        let tasks = page.map(|page| page.tasks).unwrap_or_default();
        tasks.into_iter().filter(|task| !task.status.is_terminal()).collect()
    }
}

/// Makes a span the parent of whatever is started in an environment.
pub fn put_below(env: &mut Vec<EnvVar>, span: TraceParent) {
    env.retain(|var| var.name.as_bytes() != TRACEPARENT_VARIABLE.as_bytes());
    env.push(EnvVar { name: TRACEPARENT_VARIABLE.into(), value: span.to_string().as_str().into() });
}
