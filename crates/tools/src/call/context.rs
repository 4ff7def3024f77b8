//! The context of a call: one session of an open home directory.

use std::cell::Cell;
use std::path::Path;
use std::time::Duration;

use meanwhile::engine::{
    Approval, Condition, GatedCall, Holder, Runtime, TaskRequest, WaitRequest, is_shared,
};
use meanwhile::{Error, Scope, Task, TaskFilter};
use mw_model::{
    CommandSpec, Dialect, EnvVar, Lifetime, Requester, TRACEPARENT_VARIABLE, TaskId, TraceParent,
};
use mw_policy::Tool;
use serde_json::{Map, Value};

use super::call_settings::{Background, CallSettings};
use super::caller::{ByCaller, Caller};
use crate::toolset::USUAL_WAIT_MS;

/// The context of one call: the engine, the session's settings, the caller and the tool.
pub struct CallContext<'a> {
    /// The engine.
    pub runtime: &'a Runtime,
    /// The settings of the session.
    pub call_settings: &'a CallSettings,
    /// The caller that waits for the reply.
    pub caller: &'a dyn Caller,
    /// The process that delivers the session's notifications, if there is one. It does not deliver ends that a reply
    /// reports.
    pub holder: Option<&'a Holder>,
    /// The dialect of the tool that is called.
    pub dialect: Dialect,
    /// The called tool, for the policy.
    pub tool: Tool,
    /// Whether this call may leave a task running.
    pub background: Background,
    /// The default timeout of a wait.
    pub wait_ms: u64,
    /// The message of the conversation that the call belongs to, if the host names it.
    pub parent_message: Option<&'a str>,
    /// The trace span that is the parent of background tasks, if not the one in the environment.
    pub trace: Option<&'a CallTrace>,
    /// The confined task that makes the call, if it is not the model.
    pub by_task: Option<&'a TaskId>,
}

/// The position of a call in a trace. A task that the call starts in the background is a child of the turn, and the
/// call is a child of the task.
#[derive(Debug)]
pub struct CallTrace {
    /// The span of the turn.
    pub turn: TraceParent,
    /// The span of the run that the call has started.
    pub started: Cell<Option<TraceParent>>,
}

impl<'a> CallContext<'a> {
    /// Creates the context for calls of a session.
    #[must_use]
    pub const fn new(runtime: &'a Runtime, call_settings: &'a CallSettings, caller: &'a dyn Caller) -> Self {
        let (tool, background) = (Tool::UNKNOWN, call_settings.background);
        let (wait_ms, dialect) = (USUAL_WAIT_MS, Dialect::Canonical);
        let (holder, parent_message, trace, by_task) = (None, None, None, None);
        Self {
            runtime,
            call_settings,
            caller,
            holder,
            dialect,
            tool,
            background,
            wait_ms,
            parent_message,
            trace,
            by_task,
        }
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

    /// Creates the request for a task of this call with the settings of the session. `cwd` is relative to the session's
    /// directory.
    pub(crate) fn request(&self, command: CommandSpec, cwd: Option<&Path>) -> TaskRequest {
        let call_settings = self.call_settings;
        let cwd = call_settings.cwd.join(cwd.unwrap_or(Path::new("")));
        TaskRequest {
            dialect: self.dialect,
            context: self.task_context().map(str::to_owned),
            umask: call_settings.umask,
            limits: call_settings.limits.clone(),
            lifetime: call_settings.lifetime_of_starts(self.runtime),
            at_capacity: call_settings.at_capacity,
            parent_message: self.parent_message.map(str::to_owned),
            starter: self.holder.cloned(),
            ..TaskRequest::new(&call_settings.session, command, cwd, call_settings.env.clone())
        }
    }

    /// Checks whether a command may be started.
    pub(crate) fn pass_start(
        &self,
        request: &mut TaskRequest,
        added: &[(String, String)],
        tool: Tool,
    ) -> Result<Approval, Error> {
        let asker = ByCaller(self.caller);
        let gated_call = GatedCall { tool, policy: &self.call_settings.policy, asker: &asker };
        self.runtime.approvals().pass_start(request, added, &gated_call)
    }

    /// Checks whether a call that starts no command is allowed. `given` contains its arguments.
    pub(crate) fn pass_call(&self, given: &Map<String, Value>) -> Result<(), Error> {
        let asker = ByCaller(self.caller);
        let gated_call = GatedCall { tool: self.tool, policy: &self.call_settings.policy, asker: &asker };
        let text = format!("{} {}", self.tool.name, Value::Object(given.clone()));
        self.runtime.approvals().pass_action(
            &self.call_settings.session,
            &self.call_settings.cwd,
            &text,
            &gated_call,
        )
    }

    /// Returns the request to wait for the end of a task, up to the time limit of a call.
    pub(crate) fn wait_for_end(&self, task: &Task) -> WaitRequest {
        WaitRequest {
            tasks: vec![task.id.clone()],
            any: false,
            condition: Condition::Exit,
            timeout: Some(self.call_settings.longest_call),
            poll_interval: Some(self.caller.poll_interval()),
        }
    }

    /// Returns the timeout of a wait.
    pub(crate) fn wait(&self, asked_ms: Option<u64>) -> Duration {
        Duration::from_millis(asked_ms.unwrap_or(self.wait_ms))
    }

    /// Returns the context in which tasks are numbered, if the dialect numbers them.
    pub(crate) fn task_context(&self) -> Option<&str> {
        self.dialect.numbers_tasks().then_some(self.call_settings.context_stamp.as_str())
    }

    /// Returns the name under which this server stores a reader's position in the output of tasks. Each server of the
    /// session has its own position.
    pub(crate) fn reader(&self, name: &str) -> String {
        format!("{name} {} {}", self.call_settings.context_stamp, std::process::id())
    }

    /// Returns the tasks that a call may see.
    #[must_use]
    pub fn scope(&self) -> Scope {
        Scope::Session(self.call_settings.session.clone())
    }

    /// Returns whether a task is known to end with the session.
    pub(crate) fn ends_with_session(&self, task: &Task) -> bool {
        match task.lifetime {
            Lifetime::Client => true,
            Lifetime::Session => self.runtime.sessions().is_hosted(&self.call_settings.session),
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

    /// Returns the name of the requester for records.
    #[must_use]
    pub fn requester(&self) -> String {
        let session = Requester::Session(&self.call_settings.session);
        self.by_task.map_or_else(|| session.to_string(), |task| format!("task {task} of {session}"))
    }

    /// Finds a task of the session by its handle. A prefix of an id is not accepted.
    ///
    /// # Errors
    /// Fails if no task or more than one matches.
    pub fn resolve(&self, handle: &str) -> Result<TaskId, Error> {
        match self.task_context() {
            Some(context) => {
                self.runtime.reader().resolve_in_context(handle, &self.call_settings.session, context)
            }
            None => self.runtime.lookup().resolve_exact(handle, &self.scope()),
        }
    }

    /// Returns a task of the session by its handle.
    ///
    /// # Errors
    /// Fails like [`CallContext::resolve`].
    pub fn task(&self, handle: &str) -> Result<Task, Error> {
        self.runtime.tasks().task(self.resolve(handle)?.as_str(), &self.scope())
    }

    /// Returns all tasks of a batch of the session.
    pub(crate) fn batch(&self, batch: &str) -> Result<Vec<Task>, Error> {
        let filter =
            TaskFilter { batch: Some(batch.to_owned()), limit: u32::MAX, ..TaskFilter::new(self.scope()) };
        Ok(self.runtime.tasks().list(&filter)?.tasks)
    }

    /// Returns whether a task belongs to this agent. If independent agents share a session, tasks of another live agent
    /// do not.
    #[must_use]
    pub fn is_own(&self, task: &Task) -> bool {
        let own = |holder| self.runtime.notifications().is_of(holder, task);
        !is_shared(&self.call_settings.session) || self.holder.is_none_or(own)
    }

    /// Returns the live tasks of the session, up to the number that a refusal can list.
    #[must_use]
    pub fn live(&self) -> Vec<Task> {
        const MAX: u32 = 20;
        let filter = TaskFilter { limit: MAX, ..TaskFilter::new(self.scope()) };
        let page = self.runtime.tasks().list(&filter);
        let tasks = page.map(|page| page.tasks).unwrap_or_default();
        tasks.into_iter().filter(|task| !task.status.is_terminal()).collect()
    }

    /// Returns the names of these tasks in the dialect of the call.
    pub(crate) fn live_handles(&self) -> String {
        self.live().iter().map(|task| self.dialect.handle(task)).collect::<Vec<_>>().join(", ")
    }
}

/// Sets the parent span of tasks that are started with an environment.
pub fn put_below(env: &mut Vec<EnvVar>, span: TraceParent) {
    EnvVar::set(env, TRACEPARENT_VARIABLE, &span.to_string());
}
