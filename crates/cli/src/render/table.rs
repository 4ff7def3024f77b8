//! The table of `mw list`: as wide as the terminal, or complete if the output is not a terminal.

use meanwhile::model::Timestamp;
use meanwhile::{Page, Task};
use mw_desk::Sample;
use mw_desk::rows::{TaskRow, last_change};
use mw_desk::text::{ago, columns, duration, shortened};

use super::text::{paint, painted};

/// Maximum width of the state on a terminal.
const STATE: usize = 28;
/// Minimum width of the command on a terminal.
const WHAT: usize = 16;
const GAP: usize = 2;

/// Draws tasks in columns of this total width; nothing is cut without a width.
pub(crate) fn table(page: &Page, now: Timestamp, width: Option<usize>, colour: bool) -> String {
    let rows: Vec<_> = page.tasks.iter().map(|task| cells(task, now, width)).collect();
    let mut lines = vec![["", "ID", "STATUS", "TIME", "WHEN", "WHAT"].map(str::to_owned)];
    lines.extend(rows);
    let widest = |column: usize| lines.iter().map(|cells| columns(&cells[column])).max().unwrap_or(0);
    let widths: [usize; 5] = std::array::from_fn(widest);
    let mut shown = vec![true; 5];
    let used = |shown: &[bool]| -> usize {
        widths.iter().zip(shown).filter(|(_, shown)| **shown).map(|(width, _)| width + GAP).sum()
    };
    // Without enough room the age is omitted first, then the duration, then the id.
    for column in [4, 3, 1] {
        if width.is_some_and(|width| used(&shown) + WHAT > width) {
            shown[column] = false;
        }
    }
    let room = width.map_or(usize::MAX, |width| width.saturating_sub(used(&shown)).max(1));
    let mut text = String::new();
    for (at, cells) in lines.iter().enumerate() {
        let mut line = String::new();
        for column in (0..5).filter(|column| shown[*column]) {
            let pad = widths[column] - columns(&cells[column]) + GAP;
            line.push_str(&cells[column]);
            line.push_str(&" ".repeat(pad));
        }
        line.push_str(&shortened(&cells[5], room));
        let task = at.checked_sub(1).and_then(|at| page.tasks.get(at));
        let line = line.trim_end();
        text.push_str(&task.map_or_else(|| paint(line, "1", colour), |task| painted(line, task, colour)));
        text.push('\n');
    }
    text
}

fn cells(task: &Task, now: Timestamp, width: Option<usize>) -> [String; 6] {
    let row = TaskRow::of(task, Sample::default());
    let state = shortened(&row.state, width.map_or(usize::MAX, |_| STATE));
    let time = row.duration_ms.map_or_else(|| "-".to_owned(), duration);
    let what = row.what.replace('\n', " ⏎ ");
    [row.icon().to_owned(), row.id, state, time, ago(now.ms_since(last_change(task))), what]
}
