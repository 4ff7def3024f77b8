//! `metadata.json`: the record as co-cli lays it out. A view; nothing is decided by it.

use serde::{Deserialize, Serialize};

use crate::task::state::Status;
use crate::time::Timestamp;
use crate::trace::{SpanId, TraceId};

/// co-cli's record of a task. It has names of environment variables, never their values.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Metadata {
    /// The canonical id.
    pub task_id: String,
    /// When it was asked for.
    pub created_at: Timestamp,
    /// When it was spawned.
    pub started_at: Option<Timestamp>,
    /// When it ended.
    pub completed_at: Option<Timestamp>,
    /// The state's word.
    pub status: Status,
    /// The argument vector.
    pub command: Vec<String>,
    /// Working directory.
    pub cwd: String,
    /// Names of the variables that were given for this task.
    pub env: Vec<String>,
    /// A line for people.
    pub description: String,
    /// The agent that does it, where one does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subagent_type: Option<String>,
    /// What that agent was asked.
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
    /// When.
    pub approved_at: Timestamp,
}

impl Metadata {
    /// Enters a state. co-cli has five: what it has no word for runs, or has failed.
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
