//! The list: columns by what fits and by what there is to show.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::put;
use super::text::{fit, fit_right, small_bytes};
use crate::row::icon;
use crate::task_row::TaskRow;
use crate::text::{bar, duration};
use crate::tui::event::Sort;
use crate::tui::layout::Areas;
use crate::tui::state::{Focus, State, Zoom};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    Status,
    Id,
    Time,
    Cpu,
    Memory,
    Progress,
    Ports,
    Session,
    What,
}

impl Column {
    const fn heading(self) -> &'static str {
        match self {
            Self::Status => "  STATUS",
            Self::Id => "ID",
            Self::Time => "TIME",
            Self::Cpu => "CPU",
            Self::Memory => "MEM",
            Self::Progress => "PROGRESS",
            Self::Ports => "PORTS",
            Self::Session => "SESSION",
            Self::What => "WHAT",
        }
    }

    const fn is_right(self) -> bool {
        match self {
            Self::Time | Self::Cpu | Self::Memory => true,
            Self::Status | Self::Id | Self::Progress | Self::Ports | Self::Session | Self::What => false,
        }
    }

    /// The order that a click on the heading asks for.
    const fn sort(self) -> Option<Sort> {
        match self {
            Self::Id | Self::Status => Some(Sort::Newest),
            Self::Time => Some(Sort::Longest),
            Self::Cpu => Some(Sort::Cpu),
            Self::Memory => Some(Sort::Memory),
            Self::What => Some(Sort::Name),
            Self::Progress | Self::Ports | Self::Session => None,
        }
    }
}

/// From this width on nothing is left out for want of room.
const ROOMY: usize = 120;
/// Below this width ids are left out.
const NARROW: usize = 56;
/// What a task is should have at least this much.
const WHAT: usize = 20;

/// Chooses the columns with their widths. One stands left of all: the mark of the selected row.
fn columns(state: &State, areas: &Areas) -> Vec<(Column, usize)> {
    let width = usize::from(areas.columns.width).saturating_sub(1);
    let rows: Vec<_> = state.list.visible(areas.list.height.into()).collect();
    let id = rows.iter().map(|row| row.id.len()).max().unwrap_or(0).clamp(13, 16);
    let any = |is: fn(&TaskRow) -> bool| rows.iter().any(|row| is(row));
    let sessions = rows.windows(2).any(|pair| pair[0].session != pair[1].session);
    let roomy = width >= ROOMY;
    let status = match width {
        96.. => 24,
        90.. => 20,
        _ if any(|row| row.survivors > 0) => 15,
        _ => 12,
    };
    let mut chosen = vec![(Column::Status, status)];
    // Where there is no room for both, the name says more than the id.
    if width >= NARROW {
        chosen.push((Column::Id, id));
    }
    chosen.push((Column::Time, 7));
    let optional = [
        (Column::Cpu, 5, true),
        (Column::Memory, 5, true),
        (Column::Progress, if roomy { 14 } else { 9 }, roomy || any(|row| row.percent.is_some())),
        (Column::Ports, if roomy { 11 } else { 6 }, roomy || any(|row| !row.sample.ports.is_empty())),
        (Column::Session, if roomy { 14 } else { 9 }, roomy || sessions),
    ];
    let used = |chosen: &[(Column, usize)]| chosen.iter().map(|(_, width)| width + 1).sum::<usize>();
    for (column, columns, _) in optional.into_iter().filter(|(_, _, wanted)| *wanted) {
        if used(&chosen) + columns + 1 + WHAT <= width {
            chosen.push((column, columns));
        }
    }
    let left = width.saturating_sub(used(&chosen));
    if left > 0 {
        chosen.push((Column::What, left));
    }
    chosen
}

/// Returns the order that a click on the headings asks for.
pub(in crate::tui) fn sort_at(state: &State, x: u16) -> Option<Sort> {
    let mut left = 1;
    for (column, width) in columns(state, &Areas::of(state)) {
        left += width + 1;
        if usize::from(x) < left {
            return column.sort();
        }
    }
    None
}

pub(super) fn draw(state: &State, areas: &Areas, buffer: &mut Buffer) {
    let columns = columns(state, areas);
    let mut x = areas.columns.x + 1;
    for (column, width) in &columns {
        let is_sorted = column.sort() == Some(state.list.query.sort) && *column != Column::Status;
        let style = if is_sorted { state.theme.accent } else { state.theme.title };
        let text = cell(*column, *width, column.heading());
        buffer.set_stringn(x, areas.columns.y, text, usize::from(areas.columns.right() - x), style);
        x += *width as u16 + 1;
    }
    if state.list.total == 0 {
        nothing(state, areas.list, buffer);
        return;
    }
    for line in 0..areas.list.height {
        let place = state.list.top + usize::from(line);
        if place >= state.list.total {
            break;
        }
        let area = Rect { y: areas.list.y + line, height: 1, ..areas.list };
        match state.list.row(place) {
            Some(row) => draw_row(state, row, &columns, area, buffer),
            None => put(buffer, area, area.y, "  …", state.theme.dim),
        }
        if place == state.list.selected {
            let has_focus = state.focus == Focus::List && state.zoom == Zoom::Split;
            buffer.set_style(area, state.theme.selected);
            buffer.set_string(area.x, area.y, if has_focus { "▸" } else { "·" }, Style::new());
        }
    }
}

fn nothing(state: &State, area: Rect, buffer: &mut Buffer) {
    let lines: &[&str] = if !state.list.is_known {
        &["  looking …"]
    } else if state.list.query.leaves_out() {
        &["  No task fits. Esc shows all."]
    } else {
        &["  No tasks.", "  mw start 'sleep 60' starts one; it appears here by itself."]
    };
    for (y, line) in lines.iter().enumerate() {
        put(buffer, area, area.y + y as u16, line, state.theme.dim);
    }
}

fn draw_row(state: &State, row: &TaskRow, columns: &[(Column, usize)], area: Rect, buffer: &mut Buffer) {
    let mut x = area.x + 1;
    let of_status = state.theme.status(row.status);
    for (column, width) in columns {
        let style = match column {
            Column::Status | Column::Progress => of_status,
            Column::Session | Column::Ports => state.theme.dim,
            Column::Id | Column::Time | Column::Cpu | Column::Memory | Column::What => Style::new(),
        };
        let text = cell(*column, *width, &text(*column, *width, row));
        buffer.set_stringn(x, area.y, text, usize::from(area.right().saturating_sub(x)), style);
        x += *width as u16 + 1;
    }
}

fn cell(column: Column, width: usize, text: &str) -> String {
    if column.is_right() { fit_right(text, width) } else { fit(text, width) }
}

fn text(column: Column, width: usize, row: &TaskRow) -> String {
    match column {
        Column::Status if width > 15 => format!("{} {}", icon(row.status), row.state),
        Column::Status if row.survivors > 0 => {
            format!("{} {} +{}", icon(row.status), row.status.word(), row.survivors)
        }
        Column::Status => format!("{} {}", icon(row.status), row.status.word()),
        Column::Id => row.id.clone(),
        Column::Time => row.duration_ms.map_or_else(|| "-".to_owned(), duration),
        Column::Cpu => row.sample.cpu.map(|cpu| format!("{cpu:.0}%")).unwrap_or_default(),
        Column::Memory => row.sample.memory.map(small_bytes).unwrap_or_default(),
        Column::Progress => row
            .percent
            .map(|percent| format!("{} {percent:>3.0}%", bar(percent, width.saturating_sub(5))))
            .unwrap_or_default(),
        Column::Ports => row.sample.ports.iter().map(u16::to_string).collect::<Vec<_>>().join(","),
        Column::Session => row.session.clone(),
        Column::What => row.what.replace('\n', " ⏎ "),
    }
}
