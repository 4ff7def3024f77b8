//! A task as front ends see it, in one stable record.

use std::path::Path;
use std::time::Duration;

use mw_model::approval::ProposalId;
use mw_model::wire::ExitRecord;
use mw_model::{
    Cause, Dependency, Dialect, Event, Lifetime, Progress, QueueLimits, Repeat, RestartPolicy, Schedule,
    SpanId, Status, TaskId, TaskKind, TaskName, TaskSpec, TaskState, TaskTrace, Timestamp, TraceId,
    next_state,
};
use serde::Serialize;

use super::agent_view::AgentView;
use super::confined::TaskConfinement;
use super::last_run::LastRun;
use super::limits::TaskLimits;
use super::place_state::PlaceState;
use crate::error::Error;

/// A task. Serialised, this is the schema of `mw list --json` and `mw status --json`.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Task {
    /// The canonical id.
    pub id: TaskId,
    /// The kind of work.
    pub kind: TaskKind,
    /// The name, if the task was given one.
    pub name: Option<String>,
    /// A description for people.
    pub description: Option<String>,
    /// The status.
    pub status: Status,
    /// Why the task ended, in words.
    pub cause: Option<String>,
    /// The command, as a person would type it.
    pub command: String,
    /// The working directory.
    pub cwd: String,
    /// The session that owns the task.
    pub session: String,
    /// The batch that the task belongs to.
    pub batch_id: Option<String>,
    /// First process of the current or last run.
    pub pid: Option<u32>,
    /// When the task was requested.
    pub created_at: Timestamp,
    /// When the current or last run was started.
    pub started_at: Option<Timestamp>,
    /// When the task ended.
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
    /// The session on whose behalf the owner works; only in the status of one task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_session: Option<String>,
    /// The message that led to the task; only in the status of one task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_message: Option<String>,
    /// Where the task runs, if not as a local process; only in the status of one task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// Where the task is at the place of a configured back-end; in the status of one task, and in lists while it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place_state: Option<PlaceState>,
    /// The resource limits of the process tree; only in the status of one task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limits: Option<TaskLimits>,
    /// What the task may do, if it is confined; only in the status of one task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confined: Option<TaskConfinement>,
    /// Number of runs so far.
    pub runs: u32,
    /// How many of the runs were follow-up messages.
    pub resume_count: u32,
    /// Position in the queue, from 1.
    pub queue_position: Option<u32>,
    /// Tasks that must complete before the task starts.
    pub after: Vec<Dependency>,
    /// The time before which the task does not start, while it is queued.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_before: Option<Timestamp>,
    /// After which runs the task is started again, if it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restart: Option<RestartPolicy>,
    /// How the task is repeated, if it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeat: Option<Repeat>,
    /// What the task waits for, in words: if queued, the tasks that must complete first; if running, the line at which
    /// it waits for input, or the permission that its agent asks for.
    pub waiting_for: Option<String>,
    /// Since when the task has waited for input, if it does.
    pub stalled: Option<Timestamp>,
    /// Whether the task ends with its session.
    pub lifetime: Lifetime,
    /// The latest time at which the task ends.
    pub deadline: Option<Timestamp>,
    /// When the current or last run became ready, if it did.
    pub ready: Option<Timestamp>,
    /// Ports that processes of the task listen on; only in the status of one task.
    pub ports: Option<Vec<u16>>,
    /// How the last run ended, while another run of a task that runs again is queued.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_run: Option<LastRun>,
    /// Whether its first process is stopped by a signal, until it is continued; absent if not.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub paused: bool,
    /// The shell that runs the command, if it is a script; only in the status of one task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shell: Option<String>,
    /// What the end of the output says about the outcome; only in the status of one task that has ended, and in replies of
    /// waits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
    /// The reported progress.
    pub progress: Option<Progress>,
    /// The agent, if the task has one; in the status of one task, and in lists while it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<Box<AgentView>>,
    /// Who approved the task.
    pub approved_by: String,
    /// When the task was approved.
    pub approved_at: Timestamp,
    /// The approval request that a person approved, if one was needed; only in the status of one task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proposal: Option<ProposalId>,
    /// The trace that the task belongs to.
    pub trace_id: Option<TraceId>,
    /// The span of the current or last run, or of the start if the task has not run.
    pub span_id: Option<SpanId>,

    /// The number within the session.
    #[serde(skip)]
    pub number: u64,
    /// The dialect that the task was started through.
    #[serde(skip)]
    pub dialect: Dialect,
    /// The context that its short handle is numbered in, if not the session.
    #[serde(skip)]
    pub context: Option<String>,
    /// The number in its short handle; `None` while the task runs in the foreground.
    #[serde(skip)]
    pub handle_number: Option<u64>,
    /// Whether the task began in the foreground.
    #[serde(skip)]
    pub foreground: bool,
    /// The priority. Higher starts earlier.
    #[serde(skip)]
    pub priority: i32,
    /// The place among the queued tasks of its priority: lower starts earlier.
    #[serde(skip)]
    pub(crate) rank: i64,
    /// The limits that apply while the task is queued; tasks of earlier builds have them in their specs.
    #[serde(skip)]
    pub(crate) queue: Option<QueueLimits>,
    /// When the task starts, and whether it runs again.
    #[serde(skip)]
    pub(crate) schedule: Option<Box<Schedule>>,
    /// The complete state.
    #[serde(skip)]
    pub state: TaskState,
    /// The place in a trace; `None` for tasks of earlier builds.
    #[serde(skip)]
    pub trace: Option<TaskTrace>,
    /// Number of journal lines that are in the database.
    #[serde(skip)]
    pub(crate) journal_seen: u64,
}

/// Facts about a run that change together with its state.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Change {
    pub(crate) duration_ms: Option<u64>,
    pub(crate) output_bytes: Option<u64>,
    pub(crate) dropped_bytes: Option<u64>,
    pub(crate) survivors: Option<u32>,
    pub(crate) journal_seen: Option<u64>,
}

impl From<&ExitRecord> for Change {
    fn from(record: &ExitRecord) -> Self {
        Self {
            duration_ms: Some(record.duration_ms()),
            output_bytes: Some(record.output_bytes),
            dropped_bytes: Some(record.dropped_bytes),
            survivors: Some(record.survivors.len() as u32),
            journal_seen: None,
        }
    }
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
            place: spec.place_name(),
            place_state: None,
            parent_session: spec.parent_session.clone(),
            parent_message: spec.parent_message.clone(),
            limits: TaskLimits::of(&spec.limits.resources, None),
            confined: None,
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
            last_run: None,
            paused: false,
            shell: None,
            outcome: None,
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
            queue: spec.queue.clone(),
            rank: spec.rank,
            priority: spec.priority,
            after: spec.after.clone(),
            not_before: None,
            restart: None,
            repeat: None,
            schedule: spec.schedule.clone(),
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
        self.not_before = state.not_before();
        let schedule = self.schedule.as_deref();
        self.restart = schedule.and_then(|schedule| schedule.restart);
        self.repeat = schedule.and_then(|schedule| schedule.repeat.clone());
        self.pid = state.process().map_or(self.pid, |process| (process.pid > 0).then_some(process.pid));
        match &state {
            TaskState::Ended { ended_at, cause, output_lost, .. } => {
                self.output_complete = !output_lost;
                self.ended_at = Some(*ended_at);
                self.cause = Some(match cause {
                    // Earlier runs have started.
                    Cause::Cancelled { by, exit: None } if self.runs > 1 && self.may_run_again() => {
                        format!("cancelled by {by} between two runs")
                    }
                    _ => cause.to_words(),
                });
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

    /// Updates the fields from an exit record, unless another run may follow: then the database decides what the end means.
    pub(crate) fn show_record(&mut self, record: &ExitRecord) {
        if self.may_run_again() {
            return;
        }
        let event = ended_by(record);
        if let Ok(state) = next_state(&self.state, &event) {
            self.set_state(state);
            self.change(record.into());
        }
    }

    /// Updates the fields that a change contains.
    pub(crate) fn change(&mut self, change: Change) {
        self.duration_ms = change.duration_ms.or(self.duration_ms);
        self.output_bytes = change.output_bytes.unwrap_or(self.output_bytes);
        self.dropped_bytes = change.dropped_bytes.unwrap_or(self.dropped_bytes);
        self.survivors = change.survivors.unwrap_or(self.survivors);
        self.journal_seen = change.journal_seen.unwrap_or(self.journal_seen);
    }

    /// Returns how long the current or last run took, or has taken so far.
    #[must_use]
    pub fn duration(&self) -> Option<Duration> {
        self.duration_ms.map(Duration::from_millis)
    }

    /// Returns the path of the log.
    #[must_use]
    pub fn log(&self) -> &Path {
        Path::new(&self.output_path)
    }

    /// Returns the name, or the id if the task has none.
    #[must_use]
    pub fn short_name(&self) -> String {
        self.name.clone().unwrap_or_else(|| self.id.to_string())
    }

    /// Returns whether the current run ended before it was started: it was skipped, refused by the system, or too
    /// late.
    #[must_use]
    pub const fn never_ran(&self) -> bool {
        matches!(self.state, TaskState::Ended { started_at: None, .. })
    }

    /// Returns the handle in the dialect that the task was started through.
    #[must_use]
    pub fn handle(&self) -> String {
        self.dialect.handle(self)
    }

    /// Returns whether another run may follow the end of a run.
    #[must_use]
    pub fn may_run_again(&self) -> bool {
        self.schedule.as_ref().is_some_and(|schedule| schedule.may_run_again())
    }

    /// Returns the error for an operation that is not possible in its state.
    pub(crate) fn refusal(&self, message: impl Into<String>) -> Error {
        Error::WrongState { id: self.id.clone(), status: self.status, message: message.into() }
    }

    /// Returns why the task ended, if it has.
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
