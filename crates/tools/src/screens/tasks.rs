//! Task lists and status pages in the style of each dialect.

use std::cmp::Reverse;
use std::path::Path;

use meanwhile::Task;
use meanwhile::engine::Runtime;
use mw_model::Status;

use super::text::{cell, clock, cut, first_line, minutes, title};
use crate::dialects::{Dialect, Speaks, co_cli, mycode};

/// How a list of tasks is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// mycode's lines between two rules.
    Plain,
    /// mycode's box.
    Boxed,
    /// co-cli's five columns.
    Table,
}

/// Draws a list of tasks with the names that they have in a dialect. mycode's lists begin with the newest start.
#[must_use]
pub fn tasks(tasks: &[Task], layout: Layout, dialect: Dialect) -> String {
    match layout {
        Layout::Plain => plain(&newest_first(tasks), dialect),
        Layout::Boxed => boxed(&newest_first(tasks), dialect),
        Layout::Table => table(tasks, dialect),
    }
}

/// One that waits has not started; it counts from when it was asked for.
fn newest_first(tasks: &[Task]) -> Vec<&Task> {
    let mut sorted: Vec<_> = tasks.iter().collect();
    sorted.sort_by_key(|task| Reverse(task.started_at.unwrap_or(task.created_at)));
    sorted
}

impl Layout {
    /// Returns the dialect whose words for states are used: the given one. Our own has no screens, so there it is the
    /// one that the layout comes from.
    const fn speaker(self, dialect: Dialect) -> Dialect {
        match self {
            _ if !dialect.is_canonical() => dialect,
            Self::Plain | Self::Boxed => Dialect::Mycode,
            Self::Table => Dialect::CoCli,
        }
    }
}

/// Returns the word for the state of a task.
#[must_use]
pub fn word(task: &Task, layout: Layout, dialect: Dialect) -> &'static str {
    state(task, layout.speaker(dialect))
}

/// Returns the words for states.
#[must_use]
pub const fn words(layout: Layout, dialect: Dialect) -> &'static [&'static str] {
    layout.speaker(dialect).words()
}

/// Returns a dialect's word for the state of a task, or ours where it has none.
fn state(task: &Task, dialect: Dialect) -> &'static str {
    dialect.word(task.status, task.cause_value()).unwrap_or(task.status.word())
}

/// Says that a task was started.
#[must_use]
pub fn started(task: &Task, layout: Layout, dialect: Dialect, runtime: &Runtime) -> String {
    match layout {
        Layout::Boxed => mycode::started_screen(task, mycode::output_file_in(task, runtime).as_deref()),
        Layout::Plain | Layout::Table => {
            let id = dialect.handle(task);
            format!("{}. Use /status {id} to check progress.", co_cli::begun(task, &id))
        }
    }
}

/// Draws one task with the end of its output.
#[must_use]
pub fn one(task: &Task, output: &str, layout: Layout, dialect: Dialect, runtime: &Runtime) -> String {
    match layout {
        Layout::Boxed => mycode::screen(task, output),
        Layout::Plain | Layout::Table => status(task, output, dialect, &runtime.reader().log_of(task)),
    }
}

const NONE: &str = "No background tasks.";

fn plain(tasks: &[&Task], dialect: Dialect) -> String {
    if tasks.is_empty() {
        return NONE.to_owned();
    }
    let rule = "─".repeat(70);
    let mut drawn = format!("\nBackground Tasks:\n{rule}\n");
    for task in tasks {
        // Some icons are two columns wide, others one.
        let icon = cell(icon(task.status), 2);
        let (id, title) = (cell(&dialect.handle(*task), 15), cell(cut(&title(task), 30), 32));
        drawn.push_str(&format!("{icon} {id} {title} {}\n", elapsed(task)));
    }
    drawn.push_str(&format!("{rule}\n{}", dialect.list_hint()));
    drawn
}

fn boxed(tasks: &[&Task], dialect: Dialect) -> String {
    if tasks.is_empty() {
        return NONE.to_owned();
    }
    let row = |status: &str, id: &str, what: &str, time: &str| {
        format!("│ {}{}{}{}│\n", cell(status, 8), cell(id, 16), cell(what, 25), cell(time, 14))
    };
    let rule = "─".repeat(64);
    let mut drawn = format!("Background Tasks:\n┌{rule}┐\n");
    drawn.push_str(&row("Status", "ID", "Description", "Elapsed"));
    drawn.push_str(&format!("├{rule}┤\n"));
    for task in tasks {
        // A blank stays between two cells.
        let what = cell(&title(task), 24);
        drawn.push_str(&row(icon(task.status), &dialect.handle(*task), &what, &elapsed(task)));
    }
    drawn.push_str(&format!("└{rule}┘"));
    drawn
}

/// co-cli's list.
#[must_use]
pub fn table(tasks: &[Task], dialect: Dialect) -> String {
    if tasks.is_empty() {
        return NONE.to_owned();
    }
    let ids: Vec<_> = tasks.iter().map(|task| dialect.handle(task)).collect();
    // An id must be whole to be of use.
    let widest = ids.iter().map(String::len).max().unwrap_or(0).max(32);
    let widths = [widest, 11, 19, 9, 24];
    let row = |cells: [&str; 5]| {
        let mut line: Vec<_> = cells[..4].iter().zip(widths).map(|(text, width)| cell(text, width)).collect();
        // The last may be as long as it is.
        line.push(cells[4].to_owned());
        line.join(" ")
    };
    let rules = widths.map(|width| "─".repeat(width));
    let mut lines = vec![row(["ID", "Status", "Started", "Duration", "Description"]), rules.join(" ")];
    for (task, id) in tasks.iter().zip(&ids) {
        let started = task.started_at.map_or_else(|| "-".to_owned(), clock);
        let time = task.duration_ms.map_or_else(|| "-".to_owned(), minutes);
        lines.push(row([id, word(task, Layout::Table, dialect), &started, &time, &title(task)]));
    }
    lines.join("\n")
}

fn elapsed(task: &Task) -> String {
    minutes(task.duration_ms.unwrap_or(0))
}

const fn icon(status: Status) -> &'static str {
    match status {
        Status::Pending => "○",
        Status::Running | Status::Resumed | Status::Cancelling => "⏳",
        Status::Completed => "✓",
        Status::Failed | Status::TimedOut | Status::Lost => "✗",
        Status::Cancelled => "⊘",
    }
}

/// co-cli's status screen.
#[must_use]
pub fn status(task: &Task, output: &str, dialect: Dialect, log: &Path) -> String {
    let mut lines = vec![
        format!("Task: {}", dialect.handle(task)),
        format!("Status: {}", word(task, Layout::Table, dialect)),
    ];
    lines.extend(co_cli::progress(task));
    lines.extend([format!("Command: {}", first_line(&task.command))]);
    lines.extend(task.started_at.map(|at| format!("Started: {}", clock(at))));
    lines.extend(task.ended_at.map(|at| format!("Completed: {}", clock(at))));
    lines.extend(task.duration_ms.map(|ms| format!("Duration: {}", minutes(ms))));
    lines.extend(task.exit_code.map(|code| format!("Exit code: {code}")));
    lines.push("\nRecent output (last 20 lines):".to_owned());
    lines.push("─".repeat(60));
    lines.push(output.trim_end_matches('\n').to_owned());
    // One that never began has none.
    lines.extend(task.started_at.map(|_| format!("\nFull output: {}", log.display())));
    lines.extend(task.span_id.as_ref().map(|span| format!("Trace: mw traces --span {span}")));
    lines.join("\n")
}
