//! Draws the state. Nothing is decided here, and nothing is read but the state.

mod detail;
mod dialogs;
mod footer;
mod log;
mod table;
mod text;
mod timeline;

use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

use super::event::States;
use super::layout::{Areas, SMALLEST};
use super::state::{Pane, State};

pub(super) use detail::pane_at;
pub(super) use dialogs::{answer_at, choice_at};
pub(super) use footer::hint_at;
pub(super) use table::sort_at;
pub(super) use text::{breaks, wrapped_rows};
use text::{fit, width_of};

/// Draws the whole screen.
pub fn view(state: &State, frame: &mut Frame<'_>) {
    let area = frame.area();
    let areas = Areas::within(state, (area.width, area.height));
    let buffer = frame.buffer_mut();
    if areas.is_too_small() {
        too_small(area, buffer);
        return;
    }
    header(state, areas.header, buffer);
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
    let (width, height) = SMALLEST;
    let lines = [
        format!("{}×{} is too small for mw top.", area.width, area.height),
        format!("Make the window {width}×{height} or larger;"),
        "q leaves, mw list prints.".to_owned(),
    ];
    for (y, line) in lines.iter().enumerate().take(area.height.into()) {
        buffer.set_stringn(area.x, area.y + y as u16, line, area.width.into(), Style::new());
    }
}

fn header(state: &State, area: Rect, buffer: &mut Buffer) {
    let list = &state.list;
    let ended = list.total.saturating_sub(list.live);
    let mut left = vec![
        Span::styled(" mw top ", Style::new().add_modifier(Modifier::BOLD)),
        Span::raw(format!(" {} live · {ended} ended", list.live)),
    ];
    if let Some(problem) = &state.deaf {
        let text = format!("  ✗ not live: {}", crate::screen::shortened(problem, 40));
        left.push(Span::styled(text, Style::new().add_modifier(Modifier::BOLD)));
    }
    if !state.proposed.is_empty() {
        let asked =
            mw_desk::text::count(state.proposed.len(), "waits for approval: A", "wait for approval: A");
        left.push(Span::styled(format!("  ‼ {asked}"), Style::new().add_modifier(Modifier::BOLD)));
    }
    if !state.marked.is_empty() {
        let text = format!("  * {} marked", state.marked.len());
        left.push(Span::styled(text, Style::new().add_modifier(Modifier::BOLD)));
    }
    let query = &list.query;
    let mut chip = |name: &str, value: Option<String>| {
        left.extend(
            value.map(|value| Span::raw(format!("  {name}:{}", crate::screen::shortened(&value, 24)))),
        );
    };
    chip("state", states_word(query.states).map(str::to_owned));
    chip("session", query.session.clone());
    chip("batch", query.batch.clone());
    chip("text", (!query.text.is_empty()).then(|| query.text.clone()));
    let right = format!("sort:{}  ? help ", query.order_word());
    buffer.set_style(area, state.theme.header);
    let line = Line::from(left);
    let used = line.width();
    buffer.set_line(area.x, area.y, &line, area.width);
    let room = usize::from(area.width).saturating_sub(used + 1);
    if width_of(&right) <= room {
        let x = area.right() - width_of(&right) as u16;
        buffer.set_string(x, area.y, right, Style::new());
    }
}

/// Returns the word for a choice of states; nothing for all of them.
fn states_word(states: States) -> Option<&'static str> {
    match states {
        States::Any => None,
        States::Live => Some("live"),
        States::Only(status) => Some(status.word()),
    }
}

/// Draws a text over the width of an area.
fn put(buffer: &mut Buffer, area: Rect, y: u16, text: &str, style: Style) {
    if y < area.bottom() {
        buffer.set_stringn(area.x, y, fit(text, area.width.into()), area.width.into(), style);
    }
}
