//! The boxes of mycode, for replies and for a chat.

use meanwhile::Task;
use meanwhile::engine::Runtime;
use mw_model::Status;

use super::panel::Panel;
use crate::dialects::{Dialect, state};
use crate::text::{beginning, first_line};
use mw_model::whole_duration;

const OWN: Dialect = Dialect::Mycode;
const RECENT: usize = 3;

/// Returns the file with a task's output: `ID.json` for an agent, `ID.log` for other tasks. Returns `None` if the task
/// never started, because the link would be broken. The link of a queued task works as soon as the task runs.
pub(crate) fn output_file(task: &Task, runtime: &Runtime) -> Option<String> {
    if task.status.is_terminal() && task.started_at.is_none() {
        return None;
    }
    let (name, file) = OWN.link(task)?;
    let linked = runtime.reader().link_beside(task, &name, file);
    Some(linked.map_or_else(
        // If the link cannot be created, the file itself is named.
        |_| task.agent.as_ref().map_or(&task.output_path, |agent| &agent.record_path).clone(),
        |path| path.to_string_lossy().into_owned(),
    ))
}

/// Draws a started or queued task.
pub(crate) fn started(task: &Task, output_file: Option<&str>) -> String {
    let state = if task.queue_position.is_some() { "Pending" } else { "Running" };
    let panel = start_panel(task, state, output_file);
    format!("{}\n\nYou can continue working. Use /tasks to check status.", panel.draw())
}

pub(crate) fn start_panel(task: &Task, state: &str, output_file: Option<&str>) -> Panel {
    let is_queued = task.queue_position.is_some();
    let title = if is_queued { "Background Task Queued" } else { "Background Task Started" };
    let mut panel = Panel::new(title)
        .field("Task ID", task.id.as_str())
        .field("Command", &beginning(&task.command))
        .field("Status", state);
    if let Some(file) = output_file.filter(|_| !is_queued) {
        panel = panel.path("Output", file);
    }
    panel
}

/// Draws one task with the end of its output.
pub(crate) fn one(task: &Task, output: &str) -> String {
    if task.status.is_terminal() { completed(task, output) } else { status(task, output) }.draw()
}

/// Returns the word of a box for a final state.
pub(crate) fn shown_word(word: &str) -> &'static str {
    match word {
        "completed" => "Completed",
        "cancelled" => "Cancelled",
        _ => "Error",
    }
}

pub(crate) fn status(task: &Task, output: &str) -> Panel {
    let elapsed = whole_duration(task.duration_ms.unwrap_or(0));
    let state =
        if task.started_at.is_some() { format!("Running ({elapsed} elapsed)") } else { "Pending".to_owned() };
    Panel::new("Task Status")
        .field("Task ID", task.id.as_str())
        .field("Status", &state)
        .block("Recent Output", last_lines(output))
}

pub(crate) fn completed(task: &Task, output: &str) -> Panel {
    Panel::new("Task Completed")
        .field("Task ID", task.id.as_str())
        .field("Status", shown_word(state(task, OWN)))
        .field("Exit Code", &exit_code(task).to_string())
        .field("Duration", &whole_duration(task.duration_ms.unwrap_or(0)))
        .block("Error", error_text(task).map(|error| first_line(&error)))
        .block("Summary", summary(output))
}

/// Returns the outcome in one line, if the output contains one, or else the last lines.
fn summary(output: &str) -> Vec<String> {
    let last = last_lines(output);
    match meanwhile::engine::summarize(output.as_bytes()) {
        Some(line) if !last.contains(&line) => vec![line],
        Some(_) | None => last,
    }
}

fn last_lines(text: &str) -> Vec<String> {
    let lines: Vec<_> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(RECENT)..].iter().map(|line| first_line(line)).collect()
}

/// Returns the exit code, or −1 without one.
pub(crate) fn exit_code(task: &Task) -> i32 {
    task.exit_code.unwrap_or(-1)
}

/// Returns the cause of an error, if the state alone does not express it.
pub(crate) fn error_text(task: &Task) -> Option<String> {
    if let Some(agent) = task.agent.as_ref().filter(|_| task.status.is_error()) {
        return agent.error.clone().or_else(|| task.cause.clone());
    }
    let says_little = task.status.is_error() && (task.status != Status::Failed || task.exit_code.is_none());
    task.cause.clone().filter(|_| says_little)
}
