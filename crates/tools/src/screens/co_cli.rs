//! The list and the status page of co-cli, for replies and for a chat.

use std::path::Path;

use meanwhile::Task;
use mw_desk::text::cell;

use super::tasks::{Layout, NONE, word};
use crate::dialects::Dialect;
use crate::text::{clock, first_line, title};
use mw_model::whole_duration;

/// Formats tasks as co-cli's list.
#[must_use]
pub fn table(tasks: &[Task], dialect: Dialect) -> String {
    if tasks.is_empty() {
        return NONE.to_owned();
    }
    let ids: Vec<_> = tasks.iter().map(|task| dialect.handle(task)).collect();
    // Ids are never cut, because a shortened id cannot be used.
    let widest = ids.iter().map(String::len).max().unwrap_or(0).max(32);
    let widths = [widest, 11, 19, 9, 24];
    let row = |cells: [&str; 5]| {
        let mut line: Vec<_> = cells[..4].iter().zip(widths).map(|(text, width)| cell(text, width)).collect();
        // The last column is not cut.
        line.push(cells[4].to_owned());
        line.join(" ")
    };
    let rules = widths.map(|width| "─".repeat(width));
    let mut lines = vec![row(["ID", "Status", "Started", "Duration", "Description"]), rules.join(" ")];
    for (task, id) in tasks.iter().zip(&ids) {
        let started = task.started_at.map_or_else(|| "-".to_owned(), clock);
        let time = task.duration_ms.map_or_else(|| "-".to_owned(), whole_duration);
        lines.push(row([id, word(task, Layout::Table, dialect), &started, &time, &title(task)]));
    }
    lines.join("\n")
}

/// Formats a task as co-cli's status page.
#[must_use]
pub fn status(task: &Task, output: &str, dialect: Dialect, log: &Path) -> String {
    let mut lines = vec![
        format!("Task: {}", dialect.handle(task)),
        format!("Status: {}", word(task, Layout::Table, dialect)),
    ];
    lines.extend(progress(task));
    lines.extend([format!("Command: {}", first_line(&task.command))]);
    lines.extend(task.started_at.map(|at| format!("Started: {}", clock(at))));
    lines.extend(task.ended_at.map(|at| format!("Completed: {}", clock(at))));
    lines.extend(task.duration_ms.map(|ms| format!("Duration: {}", whole_duration(ms))));
    lines.extend(task.exit_code.map(|code| format!("Exit code: {code}")));
    lines.push("\nRecent output (last 20 lines):".to_owned());
    lines.push("─".repeat(60));
    lines.push(output.trim_end_matches('\n').to_owned());
    // A task that never started has no log.
    lines.extend(task.started_at.map(|_| format!("\nFull output: {}", log.display())));
    lines.extend(task.span_id.as_ref().map(|span| format!("Trace: mw traces --span {span}")));
    lines.join("\n")
}

/// Describes a started or queued task.
pub(crate) fn begun(task: &Task, id: &str) -> String {
    match task.queue_position {
        Some(place) => format!("Queued background task {id} (pending, position {place} in the queue)"),
        None => format!("Started background task {id}"),
    }
}

/// Describes the progress of a running task: `Running: 132/247 files processed (53%)`.
pub(crate) fn progress(task: &Task) -> Option<String> {
    let progress = task.progress.as_ref().filter(|_| !task.status.is_terminal())?;
    let steps = match (progress.done, progress.total) {
        (Some(done), Some(total)) => Some(format!("{done}/{total}")),
        (Some(done), None) => Some(done.to_string()),
        (None, _) => None,
    };
    let text = progress.text.as_deref().map(first_line).unwrap_or_default();
    // The text may already contain the numbers.
    let steps = steps.filter(|steps| !text.contains(steps.as_str()));
    let percent = progress.percent.map(|percent| format!("{}%", percent.trunc()));
    let percent =
        percent.filter(|percent| !text.contains(percent.as_str())).map(|percent| format!("({percent})"));
    let words = [steps, Some(text).filter(|text| !text.is_empty()), percent];
    Some(format!("Running: {}", words.into_iter().flatten().collect::<Vec<_>>().join(" ")))
}
