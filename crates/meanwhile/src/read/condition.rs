//! What can be waited for.

use std::time::Duration;

use mw_model::TaskId;
use regex::bytes::Regex;

use super::output::compile;
use crate::error::Result;
use crate::task::Task;

/// What to wait for.
#[derive(Clone, Debug)]
pub enum Condition {
    /// The end.
    Exit,
    /// That it is ready, see [`TaskRequest::ready`](crate::engine::TaskRequest::ready).
    Ready,
    /// A line of output that matches this regular expression.
    Match(Regex),
    /// A port on this machine that accepts connections.
    Port(u16),
    /// No output for this many milliseconds.
    Silence(u64),
}

impl Condition {
    /// Reads a regular expression.
    ///
    /// # Errors
    /// When it is not a regular expression.
    pub fn matching(pattern: &str) -> Result<Self> {
        compile(pattern).map(Self::Match)
    }
}

/// A wait.
#[derive(Clone, Debug)]
pub struct WaitRequest {
    /// For which tasks.
    pub tasks: Vec<TaskId>,
    /// Whether one is enough.
    pub any: bool,
    /// For what.
    pub condition: Condition,
    /// For how long at most.
    pub timeout: Option<Duration>,
    /// Longest time between two checks, for callers that show progress.
    pub look_every: Option<Duration>,
}

/// How a wait ended.
#[derive(Clone, Debug)]
pub struct WaitReply {
    /// The tasks as they are now, in the order asked for.
    pub tasks: Vec<Task>,
    /// Those for which the condition came true, in the order in which it did.
    pub met: Vec<TaskId>,
    /// Whether the wait timed out.
    pub timed_out: bool,
}
