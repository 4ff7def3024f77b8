//! The first line.

use mw_desk::query::States;
use mw_desk::text::count;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

use super::text::width_of;
use crate::screen::shortened;
use crate::top::state::State;

/// Draws the first line: how many there are, what waits, what is left out.
pub(super) fn draw(state: &State, area: Rect, buffer: &mut Buffer) {
    let list = &state.list;
    let ended = list.total.saturating_sub(list.live);
    let mut left = vec![
        Span::styled(" mw top ", Style::new().add_modifier(Modifier::BOLD)),
        Span::raw(format!(" {} live · {ended} ended", list.live)),
    ];
    if let Some(problem) = &state.deaf {
        let text = format!("  ✗ not updating: {}", shortened(problem, 40));
        left.push(Span::styled(text, Style::new().add_modifier(Modifier::BOLD)));
    }
    if !state.proposed.is_empty() {
        let asked = count(state.proposed.len(), "approval required: A", "approvals required: A");
        left.push(Span::styled(format!("  ‼ {asked}"), Style::new().add_modifier(Modifier::BOLD)));
    }
    if !state.marked.is_empty() {
        let text = format!("  * {} marked", state.marked.len());
        left.push(Span::styled(text, Style::new().add_modifier(Modifier::BOLD)));
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
    if width_of(&right) <= room {
        let x = area.right() - width_of(&right) as u16;
        buffer.set_string(x, area.y, right, Style::new());
    }
}

/// Returns the word for a filter of states; none for all states.
pub(super) fn states_word(states: States) -> Option<&'static str> {
    match states {
        States::Any => None,
        States::Live => Some("live"),
        States::Only(status) => Some(status.word()),
    }
}
