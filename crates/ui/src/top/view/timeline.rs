//! Draws the timeline: one line for each listed task, from the first start to now.

use meanwhile::engine::TaskRun;
use meanwhile::model::{Status, Timestamp};
use mw_desk::rows::icon;
use mw_desk::text::{cell, columns, duration};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::text::put;
use crate::top::state::State;

/// The scale of the timeline.
struct Scale {
    from: Timestamp,
    to: Timestamp,
    columns: usize,
}

impl Scale {
    fn of(state: &State, columns: usize) -> Option<Self> {
        let runs = || state.lanes.iter().flat_map(|lane| &lane.runs);
        let from = runs().map(|run| run.started_at).min()?;
        let end = |run: &TaskRun| run.ended_at.unwrap_or(state.now).max(run.started_at);
        Some(Self { from, to: runs().map(end).max()?, columns })
    }

    fn column(&self, at: Timestamp) -> usize {
        let whole = self.to.ms_since(self.from).max(1);
        let part = at.ms_since(self.from).min(whole);
        (part as f64 / whole as f64 * (self.columns.saturating_sub(1)) as f64) as usize
    }
}

pub(super) fn draw(state: &State, area: Rect, buffer: &mut Buffer) {
    let label = usize::from(area.width / 3).clamp(12, 34);
    let columns = usize::from(area.width).saturating_sub(label + 2);
    let Some(scale) = Scale::of(state, columns).filter(|scale| scale.columns > 4) else {
        put(buffer, area, area.y, "  Nothing in this list has run.", state.theme.dim);
        return;
    };
    let rows = area.height.saturating_sub(1);
    for (lane, y) in state.lanes.iter().zip(area.y..area.y + rows) {
        let style = state.theme.status(lane.status);
        let text = cell(&format!("{} {}", icon(lane.status), lane.what.replace('\n', " ")), label);
        buffer.set_stringn(area.x, y, text, label, style);
        for run in &lane.runs {
            draw_run(state, run, &scale, (area.x + label as u16 + 1, y), buffer);
        }
        if state.list.selected_id.as_ref() == Some(&lane.id) {
            buffer.set_style(Rect { y, height: 1, ..area }, state.theme.selected);
        }
    }
    axis(state, &scale, Rect { x: area.x + label as u16 + 1, y: area.bottom() - 1, ..area }, buffer);
}

fn draw_run(state: &State, run: &TaskRun, scale: &Scale, (x, y): (u16, u16), buffer: &mut Buffer) {
    let first = scale.column(run.started_at);
    let last = scale.column(run.ended_at.unwrap_or(scale.to)).max(first);
    // The bar of a run shows its outcome without colour.
    let (body, tip) = match run.status {
        Status::Completed => ("█", "█"),
        Status::Pending | Status::Running | Status::Resumed | Status::Cancelling => ("▒", "▸"),
        Status::Failed | Status::TimedOut => ("▓", "✗"),
        Status::Cancelled => ("▓", "⊘"),
        Status::Lost => ("▓", "?"),
    };
    let style = state.theme.status(run.status);
    for column in first..last {
        buffer.set_string(x + column as u16, y, body, style);
    }
    buffer.set_string(x + last as u16, y, tip, style);
}

fn axis(state: &State, scale: &Scale, area: Rect, buffer: &mut Buffer) {
    let ago = |at: Timestamp| match state.now.ms_since(at) {
        0..1000 => "now".to_owned(),
        ms => format!("{} ago", duration(ms)),
    };
    let (left, right) = (ago(scale.from), ago(scale.to));
    buffer.set_string(
        area.x,
        area.y,
        format!("└{}┘", "─".repeat(scale.columns.saturating_sub(2))),
        state.theme.dim,
    );
    let room = columns(&left) + columns(&right) + 6;
    if scale.columns > room {
        buffer.set_string(area.x + 2, area.y, format!(" {left} "), state.theme.dim);
        let x = area.x + (scale.columns - columns(&right) - 4) as u16;
        buffer.set_string(x, area.y, format!(" {right} "), state.theme.dim);
    }
}
