//! Task lists and status pages in the style of each dialect.

use std::cmp::Reverse;

use meanwhile::Task;
use meanwhile::engine::Runtime;
use mw_desk::text::{cell, cut};
use mw_model::Status;

use super::{co_cli, mycode};
use crate::dialects::{Dialect, DialectTools, state};
use crate::text::title;
use mw_model::whole_duration;

/// The layout of a task list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// mycode's lines between two rules.
    Plain,
    /// mycode's box.
    Boxed,
    /// co-cli's five columns.
    Table,
}

/// Formats a list of tasks with the names of a dialect. mycode's lists begin with the newest start.
#[must_use]
pub fn tasks(tasks: &[Task], layout: Layout, dialect: Dialect) -> String {
    match layout {
        Layout::Plain => plain(&newest_first(tasks), dialect),
        Layout::Boxed => boxed(&newest_first(tasks), dialect),
        Layout::Table => co_cli::table(tasks, dialect),
    }
}

/// Sorts tasks by start time. A queued task counts from its request.
fn newest_first(tasks: &[Task]) -> Vec<&Task> {
    let mut sorted: Vec<_> = tasks.iter().collect();
    sorted.sort_by_key(|task| Reverse(task.started_at.unwrap_or(task.created_at)));
    sorted
}

impl Layout {
    /// Returns the dialect whose words for states are used. This is the given one, except for our own, which has no
    /// screens. There it is the source of the layout.
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

/// Draws a started task.
#[must_use]
pub fn started(task: &Task, layout: Layout, dialect: Dialect, runtime: &Runtime) -> String {
    match layout {
        Layout::Boxed => mycode::started(task, mycode::output_file(task, runtime).as_deref()),
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
        Layout::Boxed => mycode::one(task, output),
        Layout::Plain | Layout::Table => {
            co_cli::status(task, output, dialect, &runtime.reader().log_of(task))
        }
    }
}

pub(super) const NONE: &str = "No background tasks.";

fn plain(tasks: &[&Task], dialect: Dialect) -> String {
    if tasks.is_empty() {
        return NONE.to_owned();
    }
    let rule = "─".repeat(70);
    let mut drawn = format!("\nBackground Tasks:\n{rule}\n");
    for task in tasks {
        // Icons are one or two columns wide.
        let icon = cell(icon(task.status), 2);
        let (id, title) = (cell(&dialect.handle(*task), 15), cell(cut(&title(task), 30), 32));
        drawn.push_str(&format!("{icon} {id} {title} {}\n", elapsed(task)));
    }
    drawn.push_str(&format!("{rule}\n{}", DialectTools::of(dialect).list_hint));
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
        // The text is one column narrower than the cell, so a space follows.
        let what = cell(&title(task), 24);
        drawn.push_str(&row(icon(task.status), &dialect.handle(*task), &what, &elapsed(task)));
    }
    drawn.push_str(&format!("└{rule}┘"));
    drawn
}

fn elapsed(task: &Task) -> String {
    whole_duration(task.duration_ms.unwrap_or(0))
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
