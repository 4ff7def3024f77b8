//! A task as one row of a list.

use meanwhile::Task;
use meanwhile::model::Status;

use crate::text::duration;

/// What a list shows of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// A sign for the state, readable without colour.
    pub icon: &'static str,
    /// The id.
    pub id: String,
    /// The state with what matters about it.
    pub state: String,
    /// How long it took, or has taken.
    pub time: String,
    /// What it is: name, description or command.
    pub what: String,
    /// The state itself, for colour.
    pub status: Status,
}

impl Row {
    /// Makes the row of a task.
    #[must_use]
    pub fn of(task: &Task) -> Self {
        let survivors = if task.survivors > 0 { format!(" +{}", task.survivors) } else { String::new() };
        Self {
            icon: icon(task.status),
            id: task.id.to_string(),
            state: format!("{}{survivors}", state_words(task)),
            time: task.duration_ms.map_or_else(|| "-".to_owned(), duration),
            what: what(task),
            status: task.status,
        }
    }
}

/// Returns what a task is: name and command, else its description, else its command.
#[must_use]
pub fn what(task: &Task) -> String {
    match (&task.name, &task.description) {
        (Some(name), _) => format!("{name}: {}", task.command),
        (None, Some(description)) => description.clone(),
        (None, None) => task.command.clone(),
    }
}

/// Returns a sign for a state.
#[must_use]
pub const fn icon(status: Status) -> &'static str {
    match status {
        Status::Pending => "○",
        Status::Running | Status::Resumed => "●",
        Status::Cancelling => "◐",
        Status::Completed => "✓",
        Status::Failed => "✗",
        Status::Cancelled => "⊘",
        Status::TimedOut => "⌛",
        Status::Lost => "?",
    }
}

/// Returns the state with what matters about it.
#[must_use]
pub fn state_words(task: &Task) -> String {
    let percent = task.progress.as_ref().and_then(|progress| progress.percent);
    let ready = if task.ready.is_some() { " (ready)" } else { "" };
    match (task.status, &task.cause, percent) {
        (Status::Pending, _, _) => task
            .queue_position
            .map_or_else(|| "pending".to_owned(), |place| format!("pending ({place}. in queue)")),
        (Status::Running | Status::Resumed, _, Some(percent)) => {
            format!("{} {percent:.0}%{ready}", task.status.word())
        }
        (Status::Running | Status::Resumed, _, None) => format!("{}{ready}", task.status.word()),
        (status, Some(cause), _) if cause.starts_with(status.word()) => cause.clone(),
        (status, Some(cause), _) if status != Status::Completed => format!("{} ({cause})", status.word()),
        (status, _, _) => status.word().to_owned(),
    }
}
