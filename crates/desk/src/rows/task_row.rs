//! A task as a row of a list.

use meanwhile::Task;
use meanwhile::model::{Status, TaskState, Timestamp};

use super::state::{WAITS, handle, icon, last_change, state_words, waits, what};
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
    /// The name of the task, if it has one.
    pub name: Option<String>,
    /// What the task does: its description or its command.
    pub about: String,
    /// The short handle, such as `bash_1`, by which every command knows the task.
    pub handle: String,
    /// The tasks that a queued task waits for.
    pub after: Option<String>,
    /// The position of a queued task in its queue.
    pub position: Option<u32>,
    /// Whether the task has reported that it is ready.
    pub is_ready: bool,
    /// The signal that has ended the last run.
    pub signal: Option<String>,
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
    /// The time of the last change: the end, else the start, else the request.
    pub changed_at: Timestamp,
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
            name: task.name.clone(),
            about: task
                .description
                .clone()
                .filter(|_| task.name.is_none())
                .unwrap_or_else(|| task.command.clone()),
            handle: handle(task),
            after: task.waiting_for.clone().filter(|_| task.status == Status::Pending),
            position: task.queue_position,
            is_ready: task.ready.is_some(),
            signal: task.signal.clone(),
            waits: waits(task),
            session: task.session.clone(),
            batch: task.batch_id.clone(),
            run: task.state.run(),
            alive,
            survivors: task.survivors,
            started_at: task.started_at,
            changed_at: last_change(task),
            duration_ms: task.duration_ms,
            percent: task.progress.as_ref().and_then(|progress| progress.percent),
            exit_code: task.exit_code,
            output_path: task.output_path.clone(),
            sample,
        }
    }
}
