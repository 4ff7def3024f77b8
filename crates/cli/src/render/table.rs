//! The table of `mw list`: as wide as the terminal, or complete if the output is not a terminal.

use std::collections::HashSet;

use meanwhile::engine::model::short_handle;
use meanwhile::model::Timestamp;
use meanwhile::{Task, TaskPage};
use mw_desk::Sample;
use mw_desk::rows::{TaskRow, last_change};
use mw_desk::text::{ago, columns, duration, shortened};

use super::text::{paint, painted};

/// Maximum width of the state on a terminal.
const STATE: usize = 28;
/// Minimum width of the name and command on a terminal.
const NAME: usize = 16;
const GAP: usize = 2;

/// Draws tasks in columns of this total width; nothing is cut without a width.
///
/// On a terminal the name and the command come first and take the room that is left. A pipe gets the whole ids, and the command
/// last.
pub(crate) fn table(page: &TaskPage, now: Timestamp, width: Option<usize>, colour: bool) -> String {
    let short_ids = width.is_some() && have_short_ids(&page.tasks);
    let mut lines = vec![
        match width {
            Some(_) => ["", "NAME", "ID", "STATUS", "TIME", "WHEN", ""],
            None => ["", "NAME", "ID", "STATUS", "TIME", "WHEN", "COMMAND"],
        }
        .map(str::to_owned),
    ];
    lines.extend(page.tasks.iter().map(|task| cells(task, now, width, short_ids)));
    let mut widths: [usize; 6] =
        std::array::from_fn(|column| lines.iter().map(|cells| columns(&cells[column])).max().unwrap_or(0));
    let mut shown = [true; 6];
    if let Some(width) = width {
        let others = |shown: &[bool; 6]| -> usize {
            [0, 2, 3, 4, 5]
                .into_iter()
                .filter(|column| shown[*column])
                .map(|column| widths[column] + GAP)
                .sum()
        };
        // Without enough room the age is omitted first, then the duration, then the id.
        for column in [5, 4, 2] {
            if others(&shown) + NAME > width {
                shown[column] = false;
            }
        }
        widths[1] = widths[1].min(width.saturating_sub(others(&shown)).max(NAME));
    }
    let mut text = String::new();
    for (at, cells) in lines.iter().enumerate() {
        let mut line = String::new();
        for column in (0..6).filter(|column| shown[*column]) {
            let cell = shortened(&cells[column], widths[column]);
            line.push_str(&cell);
            line.push_str(&" ".repeat(widths[column] - columns(&cell) + GAP));
        }
        line.push_str(&cells[6]);
        let line = shortened(line.trim_end(), width.unwrap_or(usize::MAX));
        let task = at.checked_sub(1).and_then(|at| page.tasks.get(at));
        text.push_str(&task.map_or_else(|| paint(&line, "1", colour), |task| painted(&line, task, colour)));
        text.push('\n');
    }
    text
}

/// Returns whether the short handles name these tasks: they are in one session, and have different handles.
fn have_short_ids(tasks: &[Task]) -> bool {
    let handles: HashSet<_> = tasks.iter().map(short).collect();
    let sessions: HashSet<_> = tasks.iter().map(|task| &task.session).collect();
    let is_plain = |task: &Task| task.context.is_none() && task.handle_number.is_some();
    handles.len() == tasks.len() && sessions.len() == 1 && tasks.iter().all(is_plain)
}

fn short(task: &Task) -> String {
    task.handle_number.map_or_else(|| task.id.to_string(), |number| short_handle(task.kind, number))
}

fn cells(task: &Task, now: Timestamp, width: Option<usize>, short_ids: bool) -> [String; 7] {
    let row = TaskRow::of(task, Sample::default());
    let state = shortened(&row.state, width.map_or(usize::MAX, |_| STATE));
    let time = row.duration_ms.map_or_else(|| "-".to_owned(), duration);
    let (name, command) = match width {
        Some(_) => (row.what.replace('\n', " ⏎ "), String::new()),
        None => {
            let first_word = || task.command.split_whitespace().next().unwrap_or_default().to_owned();
            let name = task.name.clone().unwrap_or_else(first_word);
            let command = row.what.strip_prefix(&format!("{name}: ")).unwrap_or(&row.what);
            let command = command.replace('\n', " ⏎ ");
            (name, command)
        }
    };
    let id = if short_ids { short(task) } else { row.id.clone() };
    [row.icon().to_owned(), name, id, state, time, ago(now.ms_since(last_change(task))), command]
}
