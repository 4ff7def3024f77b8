//! A task as a row of a list.

use meanwhile::Task;
use meanwhile::model::{Status, TaskState, Timestamp};

use super::state::{WAITS, icon, state_words, waits, what};
use crate::sample::Sample;

/// The properties of a task in a list.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskRow {
    /// The id of the task.
    pub id: String,
    /// The state of the task.
    pub status: Status,
    /// The state in words, with its most important details.
    pub state: String,
    /// The label of the task: name, description or command.
    pub what: String,
    /// What the task needs from a person: input or permission.
    pub waits: Option<&'static str>,
    /// The session that owns the task.
    pub session: String,
    /// The batch of the task.
    pub batch: Option<String>,
    /// The number of the current or last run.
    pub run: u32,
    /// Whether the task runs, or has left processes behind that do.
    pub alive: bool,
    /// The number of live processes that the task has left behind.
    pub survivors: u32,
    /// The start time of the current or last run.
    pub started_at: Option<Timestamp>,
    /// The duration of the current or last run so far.
    pub duration_ms: Option<u64>,
    /// The progress in percent.
    pub percent: Option<f64>,
    /// The exit code of the last run.
    pub exit_code: Option<i32>,
    /// The path of the log.
    pub output_path: String,
    /// The last sample of the process tree.
    pub sample: Sample,
}

impl TaskRow {
    /// Returns the sign for the state.
    #[must_use]
    pub fn icon(&self) -> &'static str {
        if self.waits.is_some() { WAITS } else { icon(self.status) }
    }

    /// Creates the row of a task.
    #[must_use]
    pub fn of(task: &Task, sample: Sample) -> Self {
        let alive = match &task.state {
            TaskState::Running { .. } | TaskState::Cancelling { .. } => true,
            TaskState::Ended { .. } => task.survivors > 0,
            TaskState::Pending { .. } | TaskState::Starting { .. } => false,
        };
        let survivors = if task.survivors > 0 { format!(" +{}", task.survivors) } else { String::new() };
        Self {
            id: task.id.to_string(),
            status: task.status,
            state: format!("{}{survivors}", state_words(task)),
            what: what(task),
            waits: waits(task),
            session: task.session.clone(),
            batch: task.batch_id.clone(),
            run: task.state.run(),
            alive,
            survivors: task.survivors,
            started_at: task.started_at,
            duration_ms: task.duration_ms,
            percent: task.progress.as_ref().and_then(|progress| progress.percent),
            exit_code: task.exit_code,
            output_path: task.output_path.clone(),
            sample,
        }
    }
}
