//! Draws the list. The name or the command comes first and is the widest column. Which columns there are depends on the
//! width and on what was ever listed, so that no column moves while the list is scrolled.

use meanwhile::model::Status;
use mw_desk::query::Sort;
use mw_desk::rows::TaskRow;
use mw_desk::text::{ago, cell, columns as width_of, duration, shortened};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

use super::text::{fit_right, gauge, put, small_bytes};
use crate::top::layout::Areas;
use crate::top::list::List;
use crate::top::state::{Focus, State};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    What,
    Status,
    Progress,
    Handle,
    Time,
    Age,
    Cpu,
    Memory,
    Ports,
    Session,
}

impl Column {
    /// Returns the heading, whether cells are aligned to the right, and the order that a click on the heading selects.
    const fn properties(self) -> (&'static str, bool, Option<Sort>) {
        match self {
            Self::What => ("TASK", false, Some(Sort::Name)),
            Self::Status => ("STATUS", false, Some(Sort::State)),
            Self::Progress => ("PROGRESS", false, None),
            Self::Handle => ("ID", false, Some(Sort::Newest)),
            Self::Time => ("TIME", true, Some(Sort::Longest)),
            Self::Age => ("AGE", true, Some(Sort::Newest)),
            Self::Cpu => ("CPU", true, Some(Sort::Cpu)),
            Self::Memory => ("MEM", true, Some(Sort::Memory)),
            Self::Ports => ("PORTS", false, None),
            Self::Session => ("SESSION", false, None),
        }
    }

    /// Returns a cell of this column.
    fn cell(self, width: usize, text: &str) -> String {
        if self.properties().1 { fit_right(text, width) } else { cell(text, width) }
    }
}

/// The columns left of the first one: the mark of the selected row, and the sign of the state.
const SIGNS: usize = 4;
/// The minimum width of the first column before another column is added. It also has two fifths of the list.
const WHAT: usize = 26;

/// Selects the columns and their widths.
fn columns(list: &List, width: usize) -> Vec<(Column, usize)> {
    let width = width.saturating_sub(SIGNS);
    let seen = &list.seen;
    let by_room = |tight: usize, medium: usize, wide: usize| match width {
        140.. => wide,
        86.. => medium,
        _ => tight,
    };
    let status = match width {
        ..56 => 9,
        _ => by_room(12, 14, 20),
    };
    let mut chosen = vec![(Column::What, 0), (Column::Status, status), (Column::Time, by_room(6, 7, 8))];
    // Important columns are added first. This does not change the order on screen.
    let optional = [
        (Column::Handle, seen.handle.clamp(6, 10), true),
        (Column::Cpu, 5, true),
        (Column::Memory, 5, true),
        (Column::Age, 4, true),
        (Column::Progress, by_room(10, 10, 15), seen.has_progress),
        (Column::Session, by_room(8, 9, 14), seen.has_sessions),
        (Column::Ports, by_room(6, 9, 11), seen.has_ports),
    ];
    let used = |chosen: &[(Column, usize)]| chosen.iter().map(|(_, width)| width + 1).sum::<usize>();
    let what = WHAT.max(width * 2 / 5);
    for (column, columns, _) in optional.into_iter().filter(|(_, _, wanted)| *wanted) {
        if used(&chosen) + columns + 1 + what <= width {
            chosen.push((column, columns));
        }
    }
    chosen.sort_by_key(|(column, _)| *column as usize);
    chosen[0].1 = width.saturating_sub(used(&chosen));
    chosen
}

/// Returns the order that a click on the headings selects.
pub(in crate::top) fn sort_at(state: &State, x: u16) -> Option<Sort> {
    let mut left = SIGNS;
    for (column, width) in columns(&state.list, Areas::of(state).columns.width.into()) {
        left += width + 1;
        if usize::from(x) < left {
            return column.properties().2;
        }
    }
    None
}

pub(super) fn draw(state: &State, areas: &Areas, buffer: &mut Buffer) {
    let columns = columns(&state.list, areas.columns.width.into());
    let mut x = areas.columns.x + SIGNS as u16;
    for (column, width) in &columns {
        let (heading, _, sort) = column.properties();
        let by = state.list.query.sort;
        let is_sorted = sort == Some(by) && !matches!(column, Column::Status | Column::Age);
        let style = if is_sorted { state.theme.accent } else { state.theme.title };
        let mark = match (is_sorted && heading.len() < *width, state.list.query.is_reversed) {
            (true, false) => "▾",
            (true, true) => "▴",
            (false, _) => "",
        };
        let text = column.cell(*width, &format!("{heading}{mark}"));
        buffer.set_stringn(
            x,
            areas.columns.y,
            text,
            usize::from(areas.columns.right().saturating_sub(x)),
            style,
        );
        x += *width as u16 + 1;
    }
    if state.list.total == 0 {
        nothing(state, areas.list, buffer);
        return;
    }
    for line in 0..areas.list.height {
        let index = state.list.top + usize::from(line);
        if index >= state.list.total {
            break;
        }
        let area = Rect { y: areas.list.y + line, height: 1, ..areas.list };
        if index == state.list.selected {
            buffer.set_style(area, state.theme.selected);
        }
        match state.list.row(index) {
            Some(row) => draw_row(state, row, &columns, area, buffer),
            None => put(buffer, area, area.y, "    …", state.theme.dim),
        }
        let is_marked = state.list.row(index).is_some_and(|row| state.marked.contains_key(&row.id));
        let is_selected = index == state.list.selected;
        let sign = match (is_marked, is_selected, state.keys_go_to()) {
            (true, _, _) => "*",
            (false, true, Focus::List) => "▸",
            (false, true, Focus::Detail) => "·",
            (false, false, _) => continue,
        };
        buffer.set_string(area.x, area.y, sign, Style::new());
    }
}

fn nothing(state: &State, area: Rect, buffer: &mut Buffer) {
    let lines: &[&str] = if !state.list.is_known {
        &["  loading …"]
    } else if state.list.query.has_filter() {
        &["  No matching tasks. Esc shows all."]
    } else {
        &["  No tasks.", "  Start one with mw start 'sleep 60'; it appears here."]
    };
    for (y, line) in lines.iter().enumerate() {
        put(buffer, area, area.y + y as u16, line, state.theme.dim);
    }
}

fn draw_row(state: &State, row: &TaskRow, columns: &[(Column, usize)], area: Rect, buffer: &mut Buffer) {
    let is_selected = state.list.selected_row().is_some_and(|selected| selected.id == row.id);
    let on_row = |style| if is_selected { state.theme.on_selected(style) } else { style };
    let of_status = on_row(state.theme.of_task(row));
    let dim = on_row(state.theme.dim);
    // Ended tasks step back, unless they have failed.
    let is_quiet = matches!(row.status, Status::Completed | Status::Cancelled) && !row.alive;
    let quiet = if is_quiet { dim } else { Style::new() };
    buffer.set_stringn(area.x + 2, area.y, cell(row.icon(), 1), 1, of_status.add_modifier(Modifier::BOLD));
    let has_progress = columns.iter().any(|(column, _)| *column == Column::Progress);
    let mut x = area.x + SIGNS as u16;
    for (column, width) in columns {
        let room = usize::from(area.right().saturating_sub(x)).min(*width);
        match (column, row.percent) {
            (Column::What, _) => draw_what(row, (x, area.y), room, (quiet, dim), buffer),
            (Column::Progress, Some(percent)) => {
                let bar = room.saturating_sub(5);
                let (full, empty) = gauge(percent, bar);
                let end = x + width_of(&full) as u16;
                buffer.set_stringn(x, area.y, &full, bar, of_status);
                buffer.set_stringn(end, area.y, &empty, bar, dim);
                buffer.set_stringn(x + bar as u16, area.y, format!(" {percent:>3.0}%"), 5, of_status);
            }
            (Column::Progress, None) => {}
            _ => {
                let style = match column {
                    Column::Status => of_status,
                    Column::Handle | Column::Session | Column::Ports | Column::Age => dim,
                    Column::Time | Column::Cpu | Column::Memory | Column::What | Column::Progress => quiet,
                };
                let text = column.cell(*width, &text(state, *column, *width, row, has_progress));
                buffer.set_stringn(x, area.y, text, room, style);
            }
        }
        x += *width as u16 + 1;
    }
}

/// Draws the name, and the command after it, in these styles.
fn draw_what(
    row: &TaskRow,
    (x, y): (u16, u16),
    room: usize,
    (first, second): (Style, Style),
    buffer: &mut Buffer,
) {
    let about = row.about.replace('\n', " ⏎ ");
    let Some(name) = &row.name else {
        buffer.set_stringn(x, y, shortened(&about, room), room, first);
        return;
    };
    let name = shortened(name, room);
    let used = width_of(&name) + 2;
    buffer.set_stringn(x, y, &name, room, first.add_modifier(Modifier::BOLD));
    if used + 4 <= room {
        let left = room - used;
        buffer.set_stringn(x + used as u16, y, shortened(&about, left), left, second);
    }
}

/// Returns the state and as many details of it as fit.
fn status_words(width: usize, row: &TaskRow, has_progress: bool) -> String {
    let survivors = if row.survivors > 0 { format!(" +{}", row.survivors) } else { String::new() };
    let words = match row.status {
        Status::Pending => match (&row.after, row.position) {
            (Some(others), _) => format!("after {others}"),
            (None, Some(position)) => format!("queued {position}"),
            (None, None) => "queued".to_owned(),
        },
        Status::Running | Status::Resumed => match (row.waits, row.percent) {
            (Some("permission"), _) if width < 12 => "asks you".to_owned(),
            (Some(what), _) if width < 18 => format!("{what}?"),
            (Some(what), _) => format!("waiting for {what}"),
            (None, Some(percent)) if !has_progress => format!("running {percent:.0}%"),
            (None, _) if row.is_ready => "ready".to_owned(),
            (None, _) => "running".to_owned(),
        },
        Status::Cancelling => "ending".to_owned(),
        Status::Failed => match (row.exit_code, &row.signal) {
            (_, Some(signal)) => format!("failed {}", signal.trim_start_matches("SIG")),
            (Some(code), None) => format!("failed {code}"),
            (None, None) => "failed".to_owned(),
        },
        Status::TimedOut => "timed out".to_owned(),
        Status::Completed | Status::Cancelled | Status::Lost => row.status.word().to_owned(),
    };
    words + &survivors
}

fn text(state: &State, column: Column, width: usize, row: &TaskRow, has_progress: bool) -> String {
    match column {
        Column::Status => status_words(width, row, has_progress),
        Column::Handle => row.handle.clone(),
        Column::Time => match row.duration_ms.map(duration) {
            None => "-".to_owned(),
            Some(text) if text.len() > width => text.replace(' ', ""),
            Some(text) => text,
        },
        Column::Age => ago(state.now.ms_since(row.changed_at)).trim_end_matches(" ago").to_owned(),
        Column::Cpu => row.sample.cpu.map(|cpu| format!("{cpu:.0}%")).unwrap_or_default(),
        Column::Memory => row.sample.memory.map(small_bytes).unwrap_or_default(),
        Column::Ports => ports(width, &row.sample.ports),
        Column::Session => row.session.clone(),
        Column::What | Column::Progress => String::new(),
    }
}

fn ports(width: usize, ports: &[u16]) -> String {
    let all = ports.iter().map(u16::to_string).collect::<Vec<_>>().join(",");
    match ports {
        [first, rest @ ..] if all.len() > width => format!("{first}+{}", rest.len()),
        _ => all,
    }
}
