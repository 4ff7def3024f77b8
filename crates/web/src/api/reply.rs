//! Replies, and the description of a task.

use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::ToSchema;

use crate::problem::Problem;

/// What a route returns.
pub(super) type Reply = Result<Response, Problem>;

/// Turns a value into a reply. The text is made by the caller's thread, which may block.
pub(super) fn json(value: &impl Serialize) -> Result<String, Problem> {
    serde_json::to_string(value).map_err(|error| {
        Problem::new(axum::http::StatusCode::INTERNAL_SERVER_ERROR, "reply", error.to_string())
    })
}

/// Sends a text that [`json`] has made.
pub(super) fn sent(text: impl IntoResponse) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], text).into_response()
}

/// The schema of a task: the same as that of `mw list --json` and `mw status --json`. A test compares the names with
/// those of a real task.
#[expect(dead_code, reason = "describes the records of the library, which knows nothing of HTTP")]
#[derive(ToSchema)]
pub(super) struct Task {
    /// The id.
    id: String,
    /// The kind of work: `shell`, `agent` or `remote`.
    kind: String,
    /// The name, unique among the live tasks of the session.
    name: Option<String>,
    /// A description for people.
    description: Option<String>,
    /// `pending`, `running`, `resumed`, `cancelling`, `completed`, `failed`, `cancelled`, `timed_out` or `lost`.
    status: String,
    /// Why the task ended, in words.
    cause: Option<String>,
    /// The command, as a person would type it.
    command: String,
    /// The working directory.
    cwd: String,
    /// The session that owns the task.
    session: String,
    /// The batch.
    batch_id: Option<String>,
    /// The first process of the current or last run.
    pid: Option<u32>,
    /// When the task was requested.
    created_at: String,
    /// When the current or last run was started.
    started_at: Option<String>,
    /// When the task ended.
    ended_at: Option<String>,
    /// How long the current or last run took, or has taken so far.
    duration_ms: Option<u64>,
    /// The exit code.
    exit_code: Option<i32>,
    /// The signal that ended the process.
    signal: Option<String>,
    /// The log.
    output_path: String,
    /// Bytes printed, dropped ones included.
    output_bytes: u64,
    /// Bytes that are not in the log.
    dropped_bytes: u64,
    /// Whether all output is in the log or counted as dropped.
    output_complete: bool,
    /// Processes that outlived the first one and are still running.
    survivors: u32,
    /// Why a running task has no supervisor.
    #[schema(required = false)]
    untended: Option<String>,
    /// The session on whose behalf the owner works; only for one task.
    #[schema(required = false)]
    parent_session: Option<String>,
    /// The message that led to the task; only for one task.
    #[schema(required = false)]
    parent_message: Option<String>,
    /// Where the task runs, if not as a local process; only for one task.
    #[schema(required = false)]
    place: Option<String>,
    /// Where the task is at the place of a configured back-end: `job`, `node`, `requeued`, `note`.
    #[schema(required = false, value_type = Option<Object>)]
    place_state: Option<serde_json::Value>,
    /// The resource limits; only for one task.
    #[schema(required = false, value_type = Option<Object>)]
    limits: Option<serde_json::Value>,
    /// The number of runs.
    runs: u32,
    /// How many of the runs were follow-up messages.
    resume_count: u32,
    /// The position in the queue, from 1.
    queue_position: Option<u32>,
    /// Tasks that must end first: the id of one that must complete, or `{"id","end"}` with the end `any` or `failed`.
    after: Vec<serde_json::Value>,
    /// What the task waits for, in words.
    waiting_for: Option<String>,
    /// Since when the task has waited for input.
    stalled: Option<String>,
    /// `session` or `detached`.
    lifetime: String,
    /// The latest time at which the task ends.
    deadline: Option<String>,
    /// When the run became ready.
    ready: Option<String>,
    /// Ports that the task listens on; only for one task.
    ports: Option<Vec<u16>>,
    /// Whether its first process is stopped by a signal.
    #[schema(required = false)]
    paused: bool,
    /// The shell that runs the command, if it is a script; only for one task.
    #[schema(required = false)]
    shell: Option<String>,
    /// What the end of the output says about the outcome; only for one task that has ended.
    #[schema(required = false)]
    outcome: Option<String>,
    /// What the task may do, if it is confined, and what enforces it; only for one task.
    #[schema(required = false, value_type = Option<Object>)]
    confined: Option<serde_json::Value>,
    /// The progress: `percent`, `done`, `total` and `text`.
    #[schema(value_type = Option<Object>)]
    progress: Option<serde_json::Value>,
    /// The agent, if the task has one.
    #[schema(required = false, value_type = Option<Object>)]
    agent: Option<serde_json::Value>,
    /// Who approved the task.
    approved_by: String,
    /// When the task was approved.
    approved_at: String,
    /// The approval request, if one was needed; only for one task.
    #[schema(required = false)]
    proposal: Option<String>,
    /// The trace.
    trace_id: Option<String>,
    /// The span of the current or last run.
    span_id: Option<String>,
    /// The last lines of output; only for one task, if `lines` is not 0.
    #[schema(required = false)]
    output: Option<String>,
}
