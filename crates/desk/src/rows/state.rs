//! Describes the state of a task in words and signs.

use meanwhile::Task;
use meanwhile::engine::model::short_handle;
use meanwhile::engine::{Clock, SystemClock};
use meanwhile::model::{Status, Timestamp};

use super::schedule::next_start;

/// Returns the time at which a task last ended or started. For a queued task this is the time of its request.
#[must_use]
pub fn last_change(task: &Task) -> Timestamp {
    task.ended_at.or(task.started_at).unwrap_or(task.created_at)
}

/// Returns a label for a task: its name and command, else its description, else its command.
#[must_use]
pub fn what(task: &Task) -> String {
    match (&task.name, &task.description) {
        (Some(name), _) => format!("{name}: {}", task.command),
        (None, Some(description)) => description.clone(),
        (None, None) => task.command.clone(),
    }
}

/// Returns the short handle of a task, which every command accepts. A task that has none is known by the last part of its
/// id.
#[must_use]
pub fn handle(task: &Task) -> String {
    task.handle_number.map_or_else(|| task.id.suffix().to_owned(), |number| short_handle(task.kind, number))
}

/// The sign of a task that waits for a person.
pub(super) const WAITS: &str = "!";

/// Returns what a running task waits for, if it needs a person to continue.
#[must_use]
pub fn waits(task: &Task) -> Option<&'static str> {
    let asks = task.agent.as_ref().is_some_and(|agent| agent.activity.waiting.is_some());
    match task.status {
        Status::Running | Status::Resumed if asks => Some("permission"),
        Status::Running | Status::Resumed if task.stalled.is_some() => Some("input"),
        _ => None,
    }
}

/// Returns the sign for the state of a task.
#[must_use]
pub fn sign(task: &Task) -> &'static str {
    if waits(task).is_some() { WAITS } else { icon(task.status) }
}

/// Returns the sign for a state.
#[must_use]
pub const fn icon(status: Status) -> &'static str {
    match status {
        Status::Pending => "○",
        Status::Running | Status::Resumed => "●",
        Status::Cancelling => "◐",
        Status::Completed => "✓",
        Status::Failed => "✗",
        Status::Cancelled => "⊘",
        Status::TimedOut => "◷",
        Status::Lost => "?",
    }
}

/// Returns the state with its most important details.
#[must_use]
pub fn state_words(task: &Task) -> String {
    let percent = task.progress.as_ref().and_then(|progress| progress.percent);
    let ready = if task.ready.is_some() { " (ready)" } else { "" };
    match (task.status, &task.cause, percent) {
        (Status::Pending, _, _) if let Some(start) = next_start(task, SystemClock.now()) => start,
        (Status::Pending, _, _) => match (&task.waiting_for, task.queue_position) {
            (Some(others), _) => format!("queued, after {others}"),
            (None, Some(place)) => format!("queued, position {place}"),
            (None, None) => "queued".to_owned(),
        },
        (Status::Running | Status::Resumed, _, _) if task.paused => "paused".to_owned(),
        (Status::Running | Status::Resumed, _, _) if let Some(what) = waits(task) => {
            format!("waiting for {what}")
        }
        // The driver runs, but not the command, or nothing is known about it now.
        (Status::Running | Status::Resumed, _, _)
            if let Some(note) = task.place_state.as_ref().and_then(|state| state.note.as_ref()) =>
        {
            note.clone()
        }
        (Status::Running | Status::Resumed, _, Some(percent)) => {
            format!("{} {percent:.0}%{ready}", task.status.word())
        }
        (Status::Running | Status::Resumed, _, None) => format!("{}{ready}", task.status.word()),
        (status, Some(cause), _) if cause.starts_with(status.word()) => cause.clone(),
        (status, Some(cause), _) if status != Status::Completed => format!("{} ({cause})", status.word()),
        (status, _, _) => status.word().to_owned(),
    }
}
