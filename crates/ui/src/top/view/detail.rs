//! The title line of the detail pane, and the facts about a task.

use meanwhile::engine::StreamChoice;
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
    let right = right_words(state, usize::from(area.width).saturating_sub(29));
    let room = usize::from(area.width).saturating_sub(29 + columns(&right) + 2);
    if let Some(row) = state.list.selected_row().filter(|_| room > 12) {
        let name = row.name.as_deref().unwrap_or(&row.about).replace('\n', " ⏎ ");
        let name = shortened(&name, (room / 2).max(12));
        let words = format!(" {} {name} · {} · {} · {} ", row.icon(), row.state, row.handle, row.id);
        spans.push(Span::styled(shortened(&words, room), state.theme.of_task(row)));
    }
    let line = Line::from(spans);
    let used = line.width();
    buffer.set_line(area.x, area.y, &line, area.width);
    let rest = usize::from(area.width).saturating_sub(used);
    buffer.set_string(area.x + used.min(area.width.into()) as u16, area.y, rule.repeat(rest), style);
    if !right.is_empty() && used + columns(&right) <= usize::from(area.width) {
        let x = area.right() - columns(&right) as u16;
        buffer.set_string(x, area.y, right, state.theme.dim);
    }
}

/// Returns the state of the log in at most this many columns. Less important words are left out first.
fn right_words(state: &State, room: usize) -> String {
    let log = &state.log;
    if state.pane != Pane::Log || log.target.is_none() {
        return String::new();
    }
    let search = log.search.as_ref().map(|search| {
        let at = if search.lines.is_empty() { 0 } else { search.current + 1 };
        // Further matches may be in parts that are not loaded.
        let more = if log.has_more() { "+" } else { "" };
        format!("/{} {at}/{}{more}", shortened(&search.text, 12), search.lines.len())
    });
    let is_behind = log.is_withheld && log.next.is_none_or(|next| next < log.end);
    let end = bytes(log.end);
    let part = match log.next.filter(|_| log.is_withheld) {
        Some(next) if log.offset > 0 || is_behind => {
            format!("{}–{} of {end}", bytes(log.offset), bytes(next))
        }
        _ if log.is_cut || is_behind => format!("parts of {end}"),
        _ if log.has_earlier => format!("last {} of {end}", bytes(log.end.saturating_sub(log.offset))),
        _ => end,
    };
    let stand = match (log.follows, is_behind) {
        (true, _) => "following",
        (false, false) => "paused",
        (false, true) => "paused, G continues",
    };
    let is_both = log.stream == StreamChoice::Both;
    let words = [
        (if is_both { 2 } else { 0 }, Some(log.stream.word().to_owned())),
        (0, search),
        (0, log.wraps.then(|| "wrap".to_owned())),
        (0, (log.left > 0).then(|| format!("→{}", log.left))),
        (1, Some(part)),
        (0, Some(stand.to_owned())),
    ];
    let joined = |least: u8| {
        let kept = words.iter().filter(|(weight, _)| *weight < least).filter_map(|(_, word)| word.clone());
        format!(" {} ", kept.collect::<Vec<_>>().join(" · "))
    };
    [3, 2, 1].map(joined).into_iter().find(|text| columns(text) <= room).unwrap_or_default()
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
