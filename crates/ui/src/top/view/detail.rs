//! The title line of the detail pane, and the facts about a task.

use mw_desk::text::{bytes, cell, columns, shortened};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::text::{broken, put};
use crate::top::state::{Focus, Pane, State};

const TABS: [(Pane, &str); 3] =
    [(Pane::Log, " 1 log "), (Pane::Facts, " 2 facts "), (Pane::Timeline, " 3 timeline ")];

/// Returns the pane whose name is at a column of the line.
pub(in crate::top) fn pane_at(x: u16) -> Option<Pane> {
    let mut right = 0;
    TABS.iter().find_map(|(pane, name)| {
        right += name.len();
        (usize::from(x) < right).then_some(*pane)
    })
}

pub(super) fn title(state: &State, area: Rect, buffer: &mut Buffer) {
    let has_focus = state.keys_go_to() == Focus::Detail;
    let rule = if has_focus { "━" } else { "─" };
    let style = if has_focus { state.theme.accent } else { state.theme.dim };
    let mut spans: Vec<_> = TABS
        .iter()
        .map(|(pane, name)| {
            let style = if *pane == state.pane { state.theme.selected } else { state.theme.dim };
            Span::styled(*name, style)
        })
        .collect();
    let right = right_words(state);
    let room = usize::from(area.width).saturating_sub(29 + columns(&right) + 2);
    if let Some(row) = state.list.selected_row().filter(|_| room > 12) {
        let words = format!(" {} {} {} ", row.icon(), row.id, row.state);
        spans.push(Span::styled(shortened(&words, room), state.theme.status(row.status)));
    }
    let line = Line::from(spans);
    let used = line.width();
    buffer.set_line(area.x, area.y, &line, area.width);
    let rest = usize::from(area.width).saturating_sub(used);
    buffer.set_string(area.x + used.min(area.width.into()) as u16, area.y, rule.repeat(rest), style);
    if !right.is_empty() && used + columns(&right) < usize::from(area.width) {
        let x = area.right() - columns(&right) as u16;
        buffer.set_string(x, area.y, right, state.theme.dim);
    }
}

fn right_words(state: &State) -> String {
    let log = &state.log;
    if state.pane != Pane::Log || log.target.is_none() {
        return String::new();
    }
    let mut words = vec![log.stream.word().to_owned()];
    if let Some(search) = &log.search {
        let at = if search.lines.is_empty() { 0 } else { search.current + 1 };
        words.push(format!("/{} {at}/{}", shortened(&search.text, 12), search.lines.len()));
    }
    if log.wraps {
        words.push("wrap".to_owned());
    }
    if log.left > 0 {
        words.push(format!("→{}", log.left));
    }
    if log.is_cut || log.is_withheld {
        words.push(format!("parts of {}", bytes(log.end)));
    } else if log.has_earlier {
        words.push(format!("last {} of {}", bytes(log.end.saturating_sub(log.offset)), bytes(log.end)));
    } else {
        words.push(bytes(log.end));
    }
    let stand = match (log.follows, log.is_withheld) {
        (true, _) => "following",
        (false, false) => "paused",
        (false, true) => "paused, G continues",
    };
    words.push(stand.to_owned());
    format!(" {} ", words.join(" · "))
}

pub(super) fn facts(state: &State, area: Rect, buffer: &mut Buffer) {
    const NAME: usize = 11;
    let selected = state.list.selected_id.as_ref();
    let Some((_, facts)) = state.facts.as_ref().filter(|(id, _)| Some(id) == selected) else {
        let text = if selected.is_some() { "  loading …" } else { "  No task is selected." };
        put(buffer, area, area.y, text, state.theme.dim);
        return;
    };
    let width = usize::from(area.width).saturating_sub(NAME + 1);
    let mut y = area.y;
    for fact in facts.iter().skip(state.facts_top) {
        let value = shortened(&fact.value.replace('\n', " ⏎ "), 4 * width);
        let style = match (fact.name, state.list.selected_row()) {
            ("status", Some(row)) => state.theme.status(row.status),
            (_, _) => Style::new(),
        };
        for (at, part) in broken(&value, width.max(1)).enumerate() {
            if y >= area.bottom() {
                return;
            }
            let name = if at == 0 { fact.name } else { "" };
            buffer.set_string(area.x, y, cell(&format!(" {name}"), NAME), state.theme.title);
            buffer.set_stringn(area.x + NAME as u16, y, part, width, style);
            y += 1;
        }
    }
}
