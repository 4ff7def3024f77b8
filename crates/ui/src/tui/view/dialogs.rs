//! Questions, choices and the list of keys, over everything else.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::widgets::{Block, Clear, Widget};

use super::footer::message_lines;
use super::text::{fit, width_of};
use super::{put, states_word};
use crate::tui::keys::{BINDINGS, Group};
use crate::tui::question::Asking;
use crate::tui::state::{Menu, MenuKind, Mode, State};
use crate::tui::update::STATES;

pub(super) fn draw(state: &State, area: Rect, buffer: &mut Buffer) {
    match &state.mode {
        Mode::Normal | Mode::Typing(_) => {}
        Mode::Asking(asking) => draw_question(state, asking, area, buffer),
        Mode::Choosing(menu) => draw_menu(state, menu, area, buffer),
        Mode::Help(top) => help(state, *top, area, buffer),
        Mode::Said(top) => said(state, *top, area, buffer),
    }
}

fn draw_question(state: &State, asking: &Asking, area: Rect, buffer: &mut Buffer) {
    let fitted = asking.fitted((area.width, area.height));
    let shown = &fitted.body[fitted.top..fitted.top + fitted.rows];
    let lines: Vec<_> = shown.iter().chain(&fitted.answers).cloned().collect();
    let inner = dialog(state, &asking.title(state), &lines, area, buffer);
    for (y, (place, line)) in (inner.y..inner.bottom()).zip(lines.iter().enumerate()) {
        let says_more = place == fitted.rows && fitted.has_more();
        put(buffer, inner, y, line, if says_more { state.theme.accent } else { Style::new() });
    }
}

/// Draws a box in the middle for these lines; returns what is inside.
fn dialog(state: &State, title: &str, lines: &[String], area: Rect, buffer: &mut Buffer) -> Rect {
    let longest = lines.iter().map(|line| width_of(line)).max().unwrap_or(0).max(width_of(title));
    let bounded = |wanted: usize, most: u16| wanted.min(most.into()) as u16;
    let (width, height) = (bounded(longest + 4, area.width), bounded(lines.len() + 2, area.height));
    let frame =
        Rect::new(area.x + (area.width - width) / 2, area.y + (area.height - height) / 2, width, height);
    Clear.render(frame, buffer);
    Block::bordered().title(title.to_owned()).border_style(state.theme.accent).render(frame, buffer);
    Rect::new(frame.x + 2, frame.y + 1, width.saturating_sub(4), height.saturating_sub(2))
}

fn draw_menu(state: &State, menu: &Menu, area: Rect, buffer: &mut Buffer) {
    let (title, lines): (&str, Vec<String>) = match &menu.kind {
        MenuKind::States => {
            (" state ", STATES.iter().map(|s| states_word(*s).unwrap_or("all").to_owned()).collect())
        }
        MenuKind::Sessions(sessions) => {
            let named = sessions.iter().map(|(name, words)| format!("{}  {words}", fit(name, 20)));
            (" session ", std::iter::once("all".to_owned()).chain(named).collect())
        }
    };
    let inner = dialog(state, title, &lines, area, buffer);
    let height = usize::from(inner.height).max(1);
    let first = (menu.selected + 1).saturating_sub(height);
    for (y, (place, line)) in (inner.y..inner.bottom()).zip(lines.iter().enumerate().skip(first)) {
        let style = if place == menu.selected { state.theme.selected } else { Style::new() };
        put(buffer, inner, y, line, style);
    }
}

/// What was said so far, the last first.
fn said(state: &State, top: usize, area: Rect, buffer: &mut Buffer) {
    Clear.render(area, buffer);
    let width = usize::from(area.width).saturating_sub(2);
    let lines: Vec<_> = state.said.iter().flat_map(|message| message_lines(state, message, width)).collect();
    let head = match lines.len() {
        0 => " Nothing was said so far. Any key goes back.",
        _ => " What was said, the last first. Any other key goes back.",
    };
    buffer.set_style(Rect { height: 1, ..area }, state.theme.header);
    buffer.set_stringn(area.x, area.y, head, area.width.into(), state.theme.header);
    let rows = usize::from(area.height).saturating_sub(1);
    let top = top.min(lines.len().saturating_sub(rows));
    for (y, (line, style)) in (area.y + 1..area.bottom()).zip(lines.iter().skip(top)) {
        put(buffer, area, y, line, *style);
    }
}

fn help(state: &State, top: usize, area: Rect, buffer: &mut Buffer) {
    const KEYS: usize = 9;
    Clear.render(area, buffer);
    let entries = |group: Group| {
        let keys = BINDINGS.iter().filter(move |binding| binding.group == group);
        std::iter::once((group.word(), None)).chain(keys.map(|key| (key.shown, Some(key.words))))
    };
    let columns: Vec<Vec<_>> = if area.width >= 76 {
        let (left, right) = Group::ALL.split_at(2);
        [left, right].map(|groups| groups.iter().flat_map(|group| entries(*group)).collect()).into()
    } else {
        vec![Group::ALL.into_iter().flat_map(entries).collect()]
    };
    let head = " mw top: keys. Any other key goes back.";
    buffer.set_style(Rect { height: 1, ..area }, state.theme.header);
    buffer.set_stringn(area.x, area.y, head, area.width.into(), state.theme.header);
    let longest = columns.iter().map(Vec::len).max().unwrap_or(0);
    let rows = usize::from(area.height).saturating_sub(1);
    let top = top.min(longest.saturating_sub(rows));
    let width = area.width / columns.len() as u16;
    for (at, column) in columns.iter().enumerate() {
        let x = area.x + at as u16 * width + 1;
        for (y, (keys, words)) in (area.y + 1..area.bottom()).zip(column.iter().skip(top)) {
            let room = usize::from(width).saturating_sub(1);
            match words {
                None => {
                    buffer.set_stringn(x, y, keys, room, state.theme.title);
                }
                Some(words) => {
                    buffer.set_stringn(x, y, fit(keys, KEYS), room, state.theme.accent);
                    let room = room.saturating_sub(KEYS);
                    buffer.set_stringn(x + KEYS as u16, y, words, room, Style::new());
                }
            }
        }
    }
}
