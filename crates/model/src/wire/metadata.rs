//! `metadata.json`: the record in co-cli's layout. It is a view: meanwhile bases no decision on it.

use serde::{Deserialize, Serialize};

use crate::task::state::Status;
use crate::time::Timestamp;
use crate::trace::{SpanId, TraceId};

/// co-cli's record of a task. It has the names of environment variables, never their values.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Metadata {
    /// The canonical id.
    pub task_id: String,
    /// When it was requested.
    pub created_at: Timestamp,
    /// When it was spawned.
    pub started_at: Option<Timestamp>,
    /// When it ended.
    pub completed_at: Option<Timestamp>,
    /// The word for the state.
    pub status: Status,
    /// The argument vector.
    pub command: Vec<String>,
    /// Working directory.
    pub cwd: String,
    /// Names of the variables that were set for this task.
    pub env: Vec<String>,
    /// A one-line description for people.
    pub description: String,
    /// The agent, for agent tasks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subagent_type: Option<String>,
    /// The prompt of the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// Process id.
    pub pid: Option<u32>,
    /// Exit code.
    pub exit_code: Option<i32>,
    /// The trace the run belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace_id: Option<TraceId>,
    /// The span of the run.
    pub span_id: Option<SpanId>,
    /// `user` or `auto`.
    pub approved_by: String,
    /// When it was approved.
    pub approved_at: Timestamp,
}

impl Metadata {
    /// Sets the state. co-cli has five words: all other states become running or failed.
    pub const fn set_status(&mut self, status: Status) {
        self.status = match status {
            Status::Pending | Status::Running | Status::Completed | Status::Failed | Status::Cancelled => {
                status
            }
            Status::Resumed | Status::Cancelling => Status::Running,
            Status::TimedOut | Status::Lost => Status::Failed,
        };
    }
}
