//! A task as a row of a list.

use meanwhile::Task;
use meanwhile::model::{Status, TaskState, Timestamp};

use super::state::{WAITS, icon, state_words, waits, what};
use crate::sample::Sample;

/// What a list shows of a task.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskRow {
    /// The id.
    pub id: String,
    /// The state.
    pub status: Status,
    /// The state with what matters about it.
    pub state: String,
    /// What it is: name, description or command.
    pub what: String,
    /// What it waits for: input or permission.
    pub waits: Option<&'static str>,
    /// Its owner.
    pub session: String,
    /// The batch it belongs to.
    pub batch: Option<String>,
    /// The present or last run.
    pub run: u32,
    /// Whether its first process lives, or children that outlived it do.
    pub alive: bool,
    /// How many children outlived it and live.
    pub survivors: u32,
    /// When the present or last run began.
    pub started_at: Option<Timestamp>,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
    /// How long it took, or has taken so far.
    pub duration_ms: Option<u64>,
    /// How far it has come, in percent.
    pub percent: Option<f64>,
    /// The code it exited with.
    pub exit_code: Option<i32>,
    /// The log.
    pub output_path: String,
    /// The last sample of its process tree.
    pub sample: Sample,
}

impl TaskRow {
    /// Returns the sign for its state.
    #[must_use]
    pub fn icon(&self) -> &'static str {
        if self.waits.is_some() { WAITS } else { icon(self.status) }
    }

    /// Makes the row of a task.
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
            ended_at: task.ended_at,
            duration_ms: task.duration_ms,
            percent: task.progress.as_ref().and_then(|progress| progress.percent),
            exit_code: task.exit_code,
            output_path: task.output_path.clone(),
            sample,
        }
    }
}
