//! Formats tasks as lines of text and as data.

use meanwhile::Task;
use mw_model::Status;
use serde_json::{Value, json};

use crate::text::{command, first_line, title};
use mw_model::seconds;

/// Returns the room that a task takes in a reply about several tasks.
pub(super) fn room(task: &Task) -> usize {
    line(task).len() + entry(task).to_string().len()
}

/// Describes how many tasks did not fit into the reply.
pub(super) fn more(missing: usize) -> Option<String> {
    (missing > 0).then(|| format!("[{missing} more not shown; see task_list]"))
}

/// Formats a task in one line.
pub(super) fn line(task: &Task) -> String {
    let time = task.duration_ms.map(|ms| format!(" {}", seconds(ms))).unwrap_or_default();
    let state = if task.status.is_terminal() {
        outcome(task)
    } else {
        match (&task.progress, task.queue_position) {
            (Some(progress), _) => format!("{} {}", task.status.word(), progress.to_words()),
            (None, Some(place)) => format!("queued, position {place}"),
            (None, None) => task.status.word().to_owned(),
        }
    };
    format!("{} {state}{time}: {}", task.id, title(task))
}

/// Describes how a task ended.
pub(super) fn outcome(task: &Task) -> String {
    let cause = task.cause.as_deref().map(first_line).unwrap_or_default();
    match task.status {
        Status::Completed => "completed".to_owned(),
        status if cause.is_empty() => status.word().to_owned(),
        status => format!("{}, {cause}", status.word()),
    }
}

pub(super) fn entry(task: &Task) -> Value {
    json!({
        "task_id": task.id,
        "name": task.name,
        "description": task.description.as_deref().map(first_line),
        "command": command(task),
        "status": task.status,
        "cause": task.cause,
        "exit_code": task.exit_code,
        "duration_ms": task.duration_ms,
        "output_path": task.output_path,
        "output_bytes": task.output_bytes,
        "progress": task.progress,
    })
}
