//! A task as front ends see it, in one stable record.

use std::path::Path;

use mw_model::approval::ProposalId;
use mw_model::wire::ExitRecord;
use mw_model::{
    Cause, Dialect, Event, Lifetime, Place, Progress, QueueLimits, SpanId, Status, TaskId, TaskKind,
    TaskName, TaskSpec, TaskState, TaskTrace, Timestamp, TraceId, next_state,
};
use serde::Serialize;

use super::agent_view::AgentView;
use super::limits::TaskLimits;
use crate::error::Error;

/// A task. Serialised, this is the schema of `mw list --json` and `mw status --json`.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Task {
    /// The canonical id.
    pub id: TaskId,
    /// The kind of work.
    pub kind: TaskKind,
    /// Its name, if it was given one.
    pub name: Option<String>,
    /// A description for people.
    pub description: Option<String>,
    /// The status.
    pub status: Status,
    /// Why it ended, in words.
    pub cause: Option<String>,
    /// Its command, as a person would type it.
    pub command: String,
    /// The working directory.
    pub cwd: String,
    /// Its owner.
    pub session: String,
    /// The batch it belongs to.
    pub batch_id: Option<String>,
    /// First process of the current or last run.
    pub pid: Option<u32>,
    /// When it was requested.
    pub created_at: Timestamp,
    /// When the current or last run was started.
    pub started_at: Option<Timestamp>,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
    /// How long the current or last run took, or has taken so far.
    pub duration_ms: Option<u64>,
    /// The exit code.
    pub exit_code: Option<i32>,
    /// The signal that ended the process.
    pub signal: Option<String>,
    /// The log.
    pub output_path: String,
    /// Bytes printed, dropped ones included.
    pub output_bytes: u64,
    /// Bytes that are not in the log.
    pub dropped_bytes: u64,
    /// Whether all output is in the log or counted as dropped; false if output may be missing, because no supervisor was running
    /// for a while.
    pub output_complete: bool,
    /// Number of processes that outlived the first process and are still running.
    pub survivors: u32,
    /// Why a running task has no supervisor; the next command tries again to start one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub untended: Option<String>,
    /// The session on whose behalf its owner works; only in the status of one task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_session: Option<String>,
    /// The message that led to it; only in the status of one task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_message: Option<String>,
    /// Where it runs, if not as a local process; only in the status of one task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
    /// The resource limits of its process tree; only in the status of one task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limits: Option<TaskLimits>,
    /// Number of runs so far.
    pub runs: u32,
    /// How many of the runs were follow-up messages.
    pub resume_count: u32,
    /// Position in the queue, from 1.
    pub queue_position: Option<u32>,
    /// Tasks that must complete before it starts.
    pub after: Vec<TaskId>,
    /// What it waits for, in words: while it is queued, the tasks that must complete first; while it runs, the line
    /// at which it waits for input, or the permission that its agent asks for.
    pub waiting_for: Option<String>,
    /// Since when it has waited for input, if it does.
    pub stalled: Option<Timestamp>,
    /// Whether it ends with its session.
    pub lifetime: Lifetime,
    /// The latest time at which it ends.
    pub deadline: Option<Timestamp>,
    /// When the current or last run became ready, if it did.
    pub ready: Option<Timestamp>,
    /// Ports that its processes listen on; only in the status of one task.
    pub ports: Option<Vec<u16>>,
    /// Its progress.
    pub progress: Option<Progress>,
    /// Its agent, if it has one; in the status of one task, and in lists while it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<Box<AgentView>>,
    /// Who approved it.
    pub approved_by: String,
    /// When it was approved.
    pub approved_at: Timestamp,
    /// The approval request that a person approved, if one was needed; only in the status of one task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proposal: Option<ProposalId>,
    /// The trace it belongs to.
    pub trace_id: Option<TraceId>,
    /// The span of its current or last run, or of its start if it has not run.
    pub span_id: Option<SpanId>,

    /// Its number within the session.
    #[serde(skip)]
    pub number: u64,
    /// The dialect it was started through.
    #[serde(skip)]
    pub dialect: Dialect,
    /// The context that its short handle is numbered in, if not its session.
    #[serde(skip)]
    pub context: Option<String>,
    /// The number in its short handle; `None` while it runs in the foreground.
    #[serde(skip)]
    pub handle_number: Option<u64>,
    /// Whether it began in the foreground.
    #[serde(skip)]
    pub foreground: bool,
    /// The priority. Higher starts earlier.
    #[serde(skip)]
    pub priority: i32,
    /// The limits that apply while it is queued; tasks of earlier builds have them in their specs.
    #[serde(skip)]
    pub(crate) queue: Option<QueueLimits>,
    /// The complete state.
    #[serde(skip)]
    pub state: TaskState,
    /// Its place in a trace; `None` for tasks of earlier builds.
    #[serde(skip)]
    pub trace: Option<TaskTrace>,
    /// Number of journal lines that are in the database.
    #[serde(skip)]
    pub(crate) journal_seen: u64,
}

/// Returns the event of an exit record.
pub(crate) fn ended_by(record: &ExitRecord) -> Event {
    Event::Ended { cause: record.cause(), ended_at: record.completed_at, output_lost: record.output_lost }
}

impl Task {
    /// Returns a task that was just requested.
    pub(crate) fn new(spec: &TaskSpec, state: TaskState, output_path: &Path) -> Task {
        let mut task = Self {
            id: spec.id.clone(),
            kind: spec.kind,
            name: spec.name.clone(),
            description: spec.description.clone(),
            status: Status::Pending,
            cause: None,
            command: spec.to_line(),
            cwd: spec.cwd.to_lossy(),
            session: spec.session.clone(),
            batch_id: spec.batch.clone(),
            untended: None,
            place: Some(spec.place).filter(|place| !place.is_process()),
            parent_session: spec.parent_session.clone(),
            parent_message: spec.parent_message.clone(),
            limits: TaskLimits::of(&spec.limits.resources, None),
            pid: None,
            created_at: spec.created_at,
            started_at: None,
            ended_at: None,
            duration_ms: None,
            exit_code: None,
            signal: None,
            output_path: output_path.to_string_lossy().into_owned(),
            output_bytes: 0,
            dropped_bytes: 0,
            output_complete: true,
            survivors: 0,
            runs: 0,
            resume_count: 0,
            queue_position: None,
            waiting_for: None,
            stalled: None,
            lifetime: spec.lifetime,
            deadline: spec.limits.deadline,
            ready: None,
            ports: None,
            progress: None,
            agent: None,
            approved_by: spec.approved_by.clone(),
            approved_at: spec.approved_at,
            proposal: spec.approval.as_ref().map(|approval| approval.proposal.clone()),
            trace_id: None,
            span_id: None,
            number: spec.number,
            dialect: spec.dialect,
            context: spec.context.clone(),
            // Earlier builds numbered all tasks of a session together.
            handle_number: spec.handle_number.or((!spec.foreground).then_some(spec.number)),
            foreground: spec.foreground,
            queue: spec.queue,
            priority: spec.priority,
            after: spec.after.clone(),
            trace: spec.trace,
            state: state.clone(),
            journal_seen: 0,
        };
        task.set_state(state);
        task
    }

    /// Sets a new state and updates the fields derived from it.
    pub(crate) fn set_state(&mut self, state: TaskState) {
        self.status = state.status();
        self.runs = state.run();
        self.started_at = state.started_at();
        self.ready = state.ready();
        self.pid = state.process().map_or(self.pid, |process| (process.pid > 0).then_some(process.pid));
        match &state {
            TaskState::Ended { ended_at, cause, output_lost, .. } => {
                self.output_complete = !output_lost;
                self.ended_at = Some(*ended_at);
                self.cause = Some(cause.to_words());
                self.exit_code = cause.exit_code();
                self.signal = cause.signal().map(mw_model::signal_name);
            }
            TaskState::Pending { .. } => {
                self.pid = None;
                self.output_complete = true;
                self.ended_at = None;
                self.cause = None;
                self.exit_code = None;
                self.signal = None;
                self.duration_ms = None;
            }
            TaskState::Starting { .. } | TaskState::Running { .. } | TaskState::Cancelling { .. } => {}
        }
        self.trace_id = self.trace.map(|trace| trace.trace_id);
        self.span_id = self.trace.map(|trace| match (state.run(), self.started_at) {
            (1, None) => trace.start_span,
            (run, _) => trace.execute_span(run),
        });
        self.state = state;
    }

    /// Updates the fields from an exit record.
    pub(crate) fn show_record(&mut self, record: &ExitRecord) {
        let event = ended_by(record);
        if let Ok(state) = next_state(&self.state, &event) {
            self.set_state(state);
            self.duration_ms = Some((record.duration_seconds * 1000.0) as u64);
            self.output_bytes = record.output_bytes;
            self.dropped_bytes = record.dropped_bytes;
            self.survivors = record.survivors.len() as u32;
        }
    }

    /// Returns its name, or its id if it has none.
    #[must_use]
    pub fn short_name(&self) -> String {
        self.name.clone().unwrap_or_else(|| self.id.to_string())
    }

    /// Returns whether its current run ended before it was started: it was skipped, refused by the system, or too
    /// late.
    #[must_use]
    pub const fn never_ran(&self) -> bool {
        matches!(self.state, TaskState::Ended { started_at: None, .. })
    }

    /// Returns its handle in the dialect it was started through.
    #[must_use]
    pub fn handle(&self) -> String {
        self.dialect.handle(self)
    }

    /// Returns the error for an operation that is not possible in its state.
    pub(crate) fn refusal(&self, message: impl Into<String>) -> Error {
        Error::WrongState { id: self.id.to_string(), status: self.status, message: message.into() }
    }

    /// Returns why it ended, if it has.
    #[must_use]
    pub fn cause_value(&self) -> Option<&Cause> {
        if let TaskState::Ended { cause, .. } = &self.state { Some(cause) } else { None }
    }
}

impl<'a> From<&'a Task> for TaskName<'a> {
    fn from(task: &'a Task) -> Self {
        Self {
            id: &task.id,
            kind: task.kind,
            context: task.context.as_deref(),
            handle_number: task.handle_number,
            created_at: task.created_at,
            line: task.command.as_str().into(),
        }
    }
}
