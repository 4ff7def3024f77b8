//! The agent of a task, as front ends see it.

use mw_model::Activity;
use serde::Serialize;

/// The agent of a task.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct AgentView {
    /// Its name in the registry.
    pub name: String,
    /// The name it reports.
    pub info: Option<String>,
    /// What it is doing, or did last.
    pub activity: Activity,
    /// The worktree that was created for it.
    pub worktree: Option<String>,
    /// What it changed there, after its end.
    pub diff_path: Option<String>,
    /// The current answer; `None` before the first.
    pub answer: Option<String>,
    /// Why its last turn had no answer.
    pub error: Option<String>,
    /// How many messages it has received.
    pub turns: usize,
    /// The file with all messages and their answers.
    pub record_path: String,
    /// The file with everything it sent, as JSON lines.
    pub transcript_path: String,
}
