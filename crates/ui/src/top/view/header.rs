//! Draws the first line.

use mw_desk::query::States;
use mw_desk::text::{columns, count, shortened};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

use crate::top::state::State;

/// Draws the first line: the number of tasks, the open approval requests, and the active filters.
pub(super) fn draw(state: &State, area: Rect, buffer: &mut Buffer) {
    let list = &state.list;
    let ended = list.total.saturating_sub(list.live);
    let bold = |text: String| Span::styled(text, Style::new().add_modifier(Modifier::BOLD));
    let mut left =
        vec![bold(" mw top ".to_owned()), Span::raw(format!(" {} live · {ended} ended", list.live))];
    if let Some(problem) = &state.watch_error {
        left.push(bold(format!("  ✗ not updating: {}", shortened(problem, 40))));
    }
    if !state.proposed.is_empty() {
        let asked = count(state.proposed.len(), "approval required: A", "approvals required: A");
        left.push(bold(format!("  ‼ {asked}")));
    }
    if !state.marked.is_empty() {
        left.push(bold(format!("  * {} marked", state.marked.len())));
    }
    let query = &list.query;
    let mut chip = |name: &str, value: Option<String>| {
        left.extend(value.map(|value| Span::raw(format!("  {name}:{}", shortened(&value, 24)))));
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
    if columns(&right) <= room {
        let x = area.right() - columns(&right) as u16;
        buffer.set_string(x, area.y, right, Style::new());
    }
}

/// Returns the word for a filter by state, or nothing if all states are listed.
pub(super) fn states_word(states: States) -> Option<&'static str> {
    match states {
        States::Any => None,
        States::Live => Some("live"),
        States::Only(status) => Some(status.word()),
    }
}
