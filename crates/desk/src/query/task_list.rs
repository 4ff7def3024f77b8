//! Tasks with everything that is known about them, for programs and the web page.

use meanwhile::engine::model::{Event, Status, StepStatus, TaskId, TaskKind};
use meanwhile::engine::{
    BackendReport, KillReport, KillRequest, ReadFrom, ReadRequest, TaskEvent, TaskRun, Trace, WaitReply,
    WaitRequest, backends, clean_text,
};
use meanwhile::{Result, Task, TaskPage};
use serde::Serialize;

use super::list_query::{Query, filter};
use crate::desk::Desk;

/// The maximum number of runs and events of a task that are returned.
const MAX_HISTORY: u32 = 200;
/// The maximum size of the last lines of a task.
const MAX_TAIL: u64 = 64 << 10;

/// Which tasks to return.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct TaskListQuery {
    /// The filter and the order. Its states are replaced by `statuses`, if there are any.
    pub query: Query,
    /// Only tasks in one of these states.
    pub statuses: Vec<Status>,
    /// Only tasks of this kind.
    pub kind: Option<TaskKind>,
    /// Only tasks with this name.
    pub name: Option<String>,
    /// How many tasks to skip.
    pub offset: u32,
    /// How many tasks to return at most.
    pub limit: u32,
}

/// What is known about a task besides its record.
#[derive(Clone, Debug)]
pub struct TaskHistory {
    /// Its runs, oldest first.
    pub runs: Vec<TaskRun>,
    /// Its events, oldest first.
    pub events: Vec<TaskEvent>,
    /// The names of the variables in its environment. Their values are secret.
    pub variables: Vec<String>,
    /// Whether it accepts input.
    pub takes_input: bool,
    /// The messages to its agent, oldest first, if it has one.
    pub turns: Vec<AgentMessages>,
}

/// A message to an agent and what it did, without secrets.
#[derive(Clone, Debug, Serialize)]
pub struct AgentMessages {
    /// The run of the task.
    pub run: u32,
    /// The message.
    pub prompt: String,
    /// The answer.
    pub answer: Option<String>,
    /// Why there is no answer.
    pub error: Option<String>,
    /// When the message was sent.
    pub started_at: meanwhile::model::Timestamp,
    /// When the agent had answered.
    pub ended_at: Option<meanwhile::model::Timestamp>,
    /// The last tool calls with their states.
    pub tools: Vec<AgentStep>,
    /// The steps of its plan with their states.
    pub plan: Vec<AgentStep>,
    /// How many tools it has called.
    pub tool_calls: u64,
}

/// A tool call of an agent, or a step of its plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AgentStep {
    /// What it does.
    pub title: String,
    /// Its state.
    pub status: String,
}

const fn step_word(status: StepStatus) -> &'static str {
    match status {
        StepStatus::Pending => "pending",
        StepStatus::InProgress => "in_progress",
        StepStatus::Completed => "completed",
    }
}

impl Desk {
    /// Returns a part of the list of tasks.
    ///
    /// # Errors
    /// Fails if the home directory cannot be read.
    pub fn tasks(&self, request: &TaskListQuery) -> Result<TaskPage> {
        let TaskListQuery { query, statuses, kind, name, offset, limit } = request;
        let mut filter = filter(query, &self.scope());
        if !statuses.is_empty() {
            filter.statuses.clone_from(statuses);
        }
        (filter.kind, filter.name, filter.offset, filter.limit) = (*kind, name.clone(), *offset, *limit);
        self.with(|runtime| runtime.tasks().list(&filter))
    }

    /// Returns a task as it is now, with its ports and its outcome.
    ///
    /// # Errors
    /// Fails if there is no such task, or the home directory cannot be read.
    pub fn task(&self, id: &str) -> Result<Task> {
        self.with(|runtime| {
            let mut task = runtime.tasks().task(id, &self.scope())?;
            runtime.live().add_ports(&mut task);
            if task.status.is_terminal() {
                task.outcome = runtime.notifications().outcome(&task);
            }
            Ok(task)
        })
    }

    /// Returns the last lines of a task, without control sequences. Empty if there is no log.
    #[must_use]
    pub fn last_lines(&self, id: &str, lines: u64) -> String {
        let request =
            ReadRequest { from: ReadFrom::TailLines(lines), max_bytes: MAX_TAIL, ..ReadRequest::default() };
        let read = self.with(|runtime| runtime.reader().read_shown(id, &self.scope(), &request));
        read.map(|reply| clean_text(&reply.text())).unwrap_or_default()
    }

    /// Returns what is known about a task besides its record.
    ///
    /// # Errors
    /// Fails if there is no such task, or the home directory cannot be read.
    pub fn history(&self, id: &str) -> Result<TaskHistory> {
        let takes_input = self.takes_input(id).unwrap_or(false);
        self.with(|runtime| {
            let task = runtime.tasks().task(id, &self.scope())?;
            let mut events = runtime.tasks().events_after(0, &self.scope(), Some(&task.id), MAX_HISTORY)?;
            events.retain(|row| !matches!(row.event, Event::Progress { .. }));
            let spec = runtime.home().task(&task.id).spec();
            let mut variables: Vec<_> =
                spec.map(|spec| spec.env.iter().map(|var| var.name.to_lossy()).collect()).unwrap_or_default();
            variables.sort();
            let turns = if task.kind == TaskKind::Agent { turns(runtime, &task.id) } else { Vec::new() };
            let runs = runtime.reader().runs(&task, MAX_HISTORY);
            Ok(TaskHistory { runs, events, variables, takes_input, turns })
        })
    }

    /// Ends tasks, or sends a signal to them, and returns the receipts.
    ///
    /// # Errors
    /// Fails if a single task cannot be killed, or the home directory cannot be opened.
    pub fn kill_with(&self, ids: &[String], signal: i32, grace_ms: Option<u64>) -> Result<KillReport> {
        let request = KillRequest { by: self.access().requester.clone(), signal, grace_ms };
        self.with(|runtime| {
            if let [id] = ids {
                let receipt = runtime.live().kill(id, &self.scope(), &request)?;
                return Ok(KillReport { receipts: vec![receipt], failures: Vec::new() });
            }
            let known = ids.iter().map(|id| runtime.lookup().resolve(id, &self.scope()));
            let known = known.collect::<Result<Vec<_>>>()?;
            Ok(runtime.live().kill_all(&known, &request))
        })
    }

    /// Waits for tasks, as long as the result is wanted.
    ///
    /// # Errors
    /// Fails if there is no such task, or the home directory cannot be read.
    pub fn wait(
        &self,
        ids: &[String],
        request: WaitRequest,
        is_wanted: impl Fn() -> bool,
    ) -> Result<WaitReply> {
        self.with(|runtime| {
            let tasks = ids.iter().map(|id| runtime.lookup().resolve(id, &self.scope()));
            let request = WaitRequest { tasks: tasks.collect::<Result<_>>()?, ..request };
            runtime.reader().wait_with(&request, |_| is_wanted())
        })
    }

    /// Returns the trace of a task, a span or a trace id.
    ///
    /// # Errors
    /// Fails if there is no such trace.
    pub fn trace(&self, name: &str) -> Result<Trace> {
        self.with(|runtime| runtime.traces().trace(name, &self.scope()))
    }

    /// Returns the newest traces.
    ///
    /// # Errors
    /// Fails if the home directory cannot be read.
    pub fn traces(&self, limit: u32) -> Result<Vec<Trace>> {
        self.with(|runtime| runtime.traces().list(&self.scope(), limit))
    }

    /// Returns the places where tasks run, and whether they can run there now.
    ///
    /// # Errors
    /// Fails if the home directory cannot be read.
    pub fn backends(&self) -> Result<Vec<BackendReport>> {
        self.with(|runtime| Ok(backends(runtime.settings())))
    }
}

/// Returns the messages of an agent without secrets.
fn turns(runtime: &meanwhile::engine::Runtime, id: &TaskId) -> Vec<AgentMessages> {
    let redactor = runtime.redaction().redactor(id);
    let shown = |text: &str| redactor.text(text).into_owned();
    let record = runtime.agents().agent_record(id);
    let turn = |turn: &meanwhile::engine::model::AgentTurn| AgentMessages {
        run: turn.run,
        prompt: shown(&turn.prompt),
        answer: turn.answer.as_deref().map(shown),
        error: turn.error.as_deref().map(shown),
        started_at: turn.started_at,
        ended_at: turn.ended_at,
        tools: turn
            .activity
            .recent_tools
            .iter()
            .map(|tool| AgentStep { title: shown(&tool.title), status: tool.status.clone() })
            .collect(),
        plan: turn
            .activity
            .plan
            .iter()
            .map(|step| AgentStep { title: shown(&step.content), status: step_word(step.status).to_owned() })
            .collect(),
        tool_calls: turn.activity.tool_calls,
    };
    record.turns.iter().map(turn).collect()
}
