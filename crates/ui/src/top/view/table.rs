//! Draws the list. The columns depend on the width and on the loaded rows.

use meanwhile::model::Status;
use mw_desk::query::Sort;
use mw_desk::rows::TaskRow;
use mw_desk::text::{bar, cell, duration};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::text::{fit_right, put, small_bytes};
use crate::top::layout::Areas;
use crate::top::state::{Focus, State};

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
    /// Returns the heading, whether cells are aligned to the right, and the order that a click on the heading selects.
    const fn properties(self) -> (&'static str, bool, Option<Sort>) {
        match self {
            Self::Status => ("  STATUS", false, Some(Sort::State)),
            Self::Id => ("ID", false, Some(Sort::Newest)),
            Self::Time => ("TIME", true, Some(Sort::Longest)),
            Self::Cpu => ("CPU", true, Some(Sort::Cpu)),
            Self::Memory => ("MEM", true, Some(Sort::Memory)),
            Self::Progress => ("PROGRESS", false, None),
            Self::Ports => ("PORTS", false, None),
            Self::Session => ("SESSION", false, None),
            Self::What => ("WHAT", false, Some(Sort::Name)),
        }
    }

    /// Returns a cell of this column.
    fn cell(self, width: usize, text: &str) -> String {
        if self.properties().1 { fit_right(text, width) } else { cell(text, width) }
    }
}

/// The minimum width for the widest columns.
const ROOMY: usize = 120;
/// The width below which columns are as narrow as possible.
const TIGHT: usize = 90;
/// The width below which ids are left out.
const NARROW: usize = 56;

/// Selects the columns and their widths. The leftmost column marks the selected row.
fn columns(state: &State, areas: &Areas) -> Vec<(Column, usize)> {
    let width = usize::from(areas.columns.width).saturating_sub(1);
    let rows: Vec<_> = state.list.visible(areas.list.height.into()).collect();
    let id = rows.iter().map(|row| row.id.len()).max().unwrap_or(0).clamp(13, 16);
    let any = |is: fn(&TaskRow) -> bool| rows.iter().any(|row| is(row));
    let sessions = rows.windows(2).any(|pair| pair[0].session != pair[1].session);
    let roomy = width >= ROOMY;
    let by_room = |tight: usize, medium: usize, wide: usize| match width {
        ROOMY.. => wide,
        TIGHT.. => medium,
        _ => tight,
    };
    let status = match width {
        96.. => 24,
        TIGHT.. => 20,
        _ if any(|row| row.survivors > 0) => 15,
        _ => 12,
    };
    // The minimum width of the column for the name or command.
    let what = by_room(14, 20, 20);
    let mut chosen = vec![(Column::Status, status)];
    // If there is no room for both, the name is shown instead of the id.
    if width >= NARROW {
        chosen.push((Column::Id, id));
    }
    chosen.push((Column::Time, by_room(6, 7, 7)));
    // Important columns are added first. This does not change the order on screen.
    let optional = [
        (Column::Progress, by_room(8, 9, 14), roomy || any(|row| row.percent.is_some())),
        (Column::Cpu, by_room(4, 5, 5), true),
        (Column::Memory, by_room(4, 5, 5), true),
        (Column::Session, by_room(7, 9, 14), roomy || sessions),
        (Column::Ports, by_room(5, 6, 11), roomy || any(|row| !row.sample.ports.is_empty())),
    ];
    let used = |chosen: &[(Column, usize)]| chosen.iter().map(|(_, width)| width + 1).sum::<usize>();
    for (column, columns, _) in optional.into_iter().filter(|(_, _, wanted)| *wanted) {
        if used(&chosen) + columns + 1 + what <= width {
            chosen.push((column, columns));
        }
    }
    chosen.sort_by_key(|(column, _)| *column as usize);
    let left = width.saturating_sub(used(&chosen));
    if left > 0 {
        chosen.push((Column::What, left));
    }
    chosen
}

/// Returns the order that a click on the headings selects.
pub(in crate::top) fn sort_at(state: &State, x: u16) -> Option<Sort> {
    let mut left = 1;
    for (column, width) in columns(state, &Areas::of(state)) {
        left += width + 1;
        if usize::from(x) < left {
            return column.properties().2;
        }
    }
    None
}

pub(super) fn draw(state: &State, areas: &Areas, buffer: &mut Buffer) {
    let columns = columns(state, areas);
    let mut x = areas.columns.x + 1;
    for (column, width) in &columns {
        let (heading, _, sort) = column.properties();
        let is_sorted = sort == Some(state.list.query.sort) && *column != Column::Status;
        let style = if is_sorted { state.theme.accent } else { state.theme.title };
        let mark = match (is_sorted && heading.len() < *width, state.list.query.is_reversed) {
            (true, false) => "▾",
            (true, true) => "▴",
            (false, _) => "",
        };
        let text = column.cell(*width, &format!("{heading}{mark}"));
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
        if place == state.list.selected {
            buffer.set_style(area, state.theme.selected);
        }
        match state.list.row(place) {
            Some(row) => draw_row(state, row, &columns, area, buffer),
            None => put(buffer, area, area.y, "  …", state.theme.dim),
        }
        let is_marked = state.list.row(place).is_some_and(|row| state.marked.contains_key(&row.id));
        let is_selected = place == state.list.selected;
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
    let mut x = area.x + 1;
    let of_status = match row.waits {
        Some(_) => state.theme.waits(),
        None => state.theme.status(row.status),
    };
    let has_progress = columns.iter().any(|(column, _)| *column == Column::Progress);
    for (column, width) in columns {
        let style = match column {
            Column::Status | Column::Progress => of_status,
            Column::Session | Column::Ports => state.theme.dim,
            Column::Id | Column::Time | Column::Cpu | Column::Memory | Column::What => Style::new(),
        };
        let text = column.cell(*width, &text(*column, *width, row, has_progress));
        buffer.set_stringn(x, area.y, text, usize::from(area.right().saturating_sub(x)), style);
        x += *width as u16 + 1;
    }
}

/// Returns the state and as many details of it as fit.
fn status_words(width: usize, row: &TaskRow, has_progress: bool) -> String {
    let icon = row.icon();
    let word = match row.status {
        Status::Pending => "queued",
        status => status.word(),
    };
    match (row.survivors, row.percent, row.exit_code) {
        _ if width > 15 => format!("{icon} {}", row.state),
        (0, _, _) if let Some(what) = row.waits => format!("{icon} {what}?"),
        (1.., _, _) => format!("{icon} {word} +{}", row.survivors),
        (0, Some(percent), None) if !has_progress && row.alive => format!("{icon} {percent:.0}% {word}"),
        (0, _, Some(code)) if row.status == Status::Failed => format!("{icon} {word} {code}"),
        (0, _, _) => format!("{icon} {word}"),
    }
}

fn text(column: Column, width: usize, row: &TaskRow, has_progress: bool) -> String {
    match column {
        Column::Status => status_words(width, row, has_progress),
        Column::Id => row.id.clone(),
        Column::Time => match row.duration_ms.map(duration) {
            None => "-".to_owned(),
            Some(text) if text.len() > width => text.replace(' ', ""),
            Some(text) => text,
        },
        Column::Cpu => row.sample.cpu.map(|cpu| format!("{cpu:.0}%")).unwrap_or_default(),
        Column::Memory => row.sample.memory.map(small_bytes).unwrap_or_default(),
        Column::Progress => row
            .percent
            .map(|percent| format!("{} {percent:>3.0}%", bar(percent, width.saturating_sub(5))))
            .unwrap_or_default(),
        Column::Ports => ports(width, &row.sample.ports),
        Column::Session => row.session.clone(),
        Column::What => row.what.replace('\n', " ⏎ "),
    }
}

fn ports(width: usize, ports: &[u16]) -> String {
    let all = ports.iter().map(u16::to_string).collect::<Vec<_>>().join(",");
    match ports {
        [first, rest @ ..] if all.len() > width => format!("{first}+{}", rest.len()),
        _ => all,
    }
}
