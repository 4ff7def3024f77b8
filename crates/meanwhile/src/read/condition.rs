//! Conditions that a caller can wait for.

use std::time::Duration;

use mw_model::TaskId;
use regex::bytes::Regex;

use super::output::compile;
use crate::error::Result;
use crate::task::Task;

/// What to wait for.
#[derive(Clone, Debug)]
pub enum Condition {
    /// The end of the task.
    Exit,
    /// The readiness of the task, see [`TaskRequest::ready`](crate::engine::TaskRequest::ready).
    Ready,
    /// A line of output that matches this regular expression.
    Match(Regex),
    /// A port on this machine that accepts connections.
    Port(u16),
    /// No output for this many milliseconds.
    Silence(u64),
}

impl Condition {
    /// Parses a regular expression.
    ///
    /// # Errors
    /// When it is not valid.
    pub fn matching(pattern: &str) -> Result<Self> {
        compile(pattern).map(Self::Match)
    }
}

/// A wait.
#[derive(Clone, Debug)]
pub struct WaitRequest {
    /// The tasks to wait for.
    pub tasks: Vec<TaskId>,
    /// Whether one task is enough.
    pub any: bool,
    /// The condition.
    pub condition: Condition,
    /// The timeout, if any.
    pub timeout: Option<Duration>,
    /// Longest time between two checks, for callers that show progress.
    pub poll_interval: Option<Duration>,
}

/// How a wait ended.
#[derive(Clone, Debug)]
pub struct WaitReply {
    /// The tasks as they are now, in the given order.
    pub tasks: Vec<Task>,
    /// The tasks for which the condition came true, in the order in which it did.
    pub met: Vec<TaskId>,
    /// Whether the wait timed out.
    pub timed_out: bool,
}
