//! Draws the whole screen, each part in its area.

use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::{detail, dialogs, footer, header, log, table, timeline};
use crate::top::layout::{Areas, MIN_SIZE};
use crate::top::state::{Pane, State};

/// Draws the whole screen.
pub(crate) fn view(state: &State, frame: &mut Frame<'_>) {
    let area = frame.area();
    let areas = Areas::within(state, (area.width, area.height));
    let buffer = frame.buffer_mut();
    if areas.is_too_small() {
        too_small(area, buffer);
        return;
    }
    header::draw(state, areas.header, buffer);
    header::alarm(state, areas.alarm, buffer);
    if areas.columns.height > 0 {
        table::draw(state, &areas, buffer);
    }
    if areas.side_by_side() {
        for y in areas.columns.y..areas.footer.y {
            buffer.set_string(areas.detail.x - 1, y, "│", state.theme.dim);
        }
    }
    if areas.title.height > 0 {
        detail::title(state, areas.title, buffer);
        match state.pane {
            Pane::Log => log::draw(state, areas.detail, buffer),
            Pane::Facts => detail::facts(state, areas.detail, buffer),
            Pane::Timeline => timeline::draw(state, areas.detail, buffer),
        }
    }
    let cursor = footer::draw(state, areas.footer, buffer);
    dialogs::draw(state, area, buffer);
    if let Some(place) = cursor {
        frame.set_cursor_position(place);
    }
}

fn too_small(area: Rect, buffer: &mut Buffer) {
    let (width, height) = MIN_SIZE;
    let lines = [
        format!("{}×{} is too small for mw top.", area.width, area.height),
        format!("Make the window {width}×{height} or larger;"),
        "q quits; mw list prints the tasks.".to_owned(),
    ];
    for (y, line) in lines.iter().enumerate().take(area.height.into()) {
        buffer.set_stringn(area.x, area.y + y as u16, line, area.width.into(), Style::new());
    }
}
