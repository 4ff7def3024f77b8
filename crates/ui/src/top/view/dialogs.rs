//! Draws questions, menus and the help above the other parts.

use crossterm::event::KeyCode;
use mw_desk::text::{cell, columns};
use ratatui::buffer::Buffer;
use ratatui::layout::{Margin, Position, Rect};
use ratatui::style::Style;
use ratatui::widgets::{Block, Clear, Widget};

use super::footer::message_lines;
use super::header::states_word;
use super::text::put;
use crate::top::keys::{self, Group};
use crate::top::question::Asking;
use crate::top::state::{Menu, MenuKind, Mode, State};
use crate::top::update::STATES;

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
    let lines = fitted.lines();
    let title = asking.title(state);
    let inner = dialog(state, &title, framed(&title, &lines, area), buffer);
    for (y, (index, line)) in (inner.y..inner.bottom()).zip(lines.iter().enumerate()) {
        let says_more = index == fitted.rows && fitted.has_more();
        put(buffer, inner, y, line, if says_more { state.theme.accent } else { Style::new() });
    }
}

/// Returns the key of the answer at a position of the screen.
pub(in crate::top) fn answer_at(state: &State, asking: &Asking, at: Position) -> Option<KeyCode> {
    let area = Rect::new(0, 0, state.size.0, state.size.1);
    let fitted = asking.fitted(state.size);
    let inner = inside(framed(&asking.title(state), &fitted.lines(), area));
    inner.contains(at).then(|| fitted.answer_at((at.y - inner.y).into(), (at.x - inner.x).into()))?
}

/// Returns the area of a centered box for these lines.
fn framed(title: &str, lines: &[String], area: Rect) -> Rect {
    let longest = lines.iter().map(|line| columns(line)).max().unwrap_or(0).max(columns(title));
    let bounded = |wanted: usize, most: u16| wanted.min(most.into()) as u16;
    let (width, height) = (bounded(longest + 4, area.width), bounded(lines.len() + 2, area.height));
    Rect::new(area.x + (area.width - width) / 2, area.y + (area.height - height) / 2, width, height)
}

const fn inside(frame: Rect) -> Rect {
    frame.inner(Margin::new(2, 1))
}

/// Draws a box. Returns the area inside.
fn dialog(state: &State, title: &str, frame: Rect, buffer: &mut Buffer) -> Rect {
    Clear.render(frame, buffer);
    Block::bordered().title(title.to_owned()).border_style(state.theme.accent).render(frame, buffer);
    inside(frame)
}

/// Returns the title and the lines of a menu.
fn menu_lines(menu: &Menu) -> (&'static str, Vec<String>) {
    match &menu.kind {
        MenuKind::States => {
            (" state ", STATES.iter().map(|s| states_word(*s).unwrap_or("all").to_owned()).collect())
        }
        MenuKind::Sessions(sessions) => {
            let named = sessions.iter().map(|(name, words)| format!("{}  {words}", cell(name, 20)));
            (" session ", std::iter::once("all".to_owned()).chain(named).collect())
        }
    }
}

/// Returns the index of the first visible line of a menu.
fn first_of(menu: &Menu, inner: Rect) -> usize {
    (menu.selected + 1).saturating_sub(usize::from(inner.height).max(1))
}

/// Returns the line of a menu at a position of the screen.
pub(in crate::top) fn choice_at(size: (u16, u16), menu: &Menu, at: Position) -> Option<usize> {
    let (title, lines) = menu_lines(menu);
    let inner = inside(framed(title, &lines, Rect::new(0, 0, size.0, size.1)));
    let index = inner.contains(at).then(|| first_of(menu, inner) + usize::from(at.y - inner.y));
    index.filter(|index| *index < lines.len())
}

fn draw_menu(state: &State, menu: &Menu, area: Rect, buffer: &mut Buffer) {
    let (title, lines) = menu_lines(menu);
    let inner = dialog(state, title, framed(title, &lines, area), buffer);
    let first = first_of(menu, inner);
    for (y, (index, line)) in (inner.y..inner.bottom()).zip(lines.iter().enumerate().skip(first)) {
        let style = if index == menu.selected { state.theme.selected } else { Style::new() };
        put(buffer, inner, y, line, style);
    }
}

/// Clears the screen and draws its first line.
fn heading(state: &State, text: &str, area: Rect, buffer: &mut Buffer) {
    Clear.render(area, buffer);
    buffer.set_style(Rect { height: 1, ..area }, state.theme.header);
    buffer.set_stringn(area.x, area.y, text, area.width.into(), Style::new());
}

/// Draws the earlier messages, newest first.
fn said(state: &State, top: usize, area: Rect, buffer: &mut Buffer) {
    let width = usize::from(area.width).saturating_sub(2);
    let lines: Vec<_> = state.said.iter().flat_map(|message| message_lines(state, message, width)).collect();
    let head = match lines.len() {
        0 => " No messages yet. Press any key to return.",
        _ => " Messages, newest first. Press any other key to return.",
    };
    heading(state, head, area, buffer);
    let rows = usize::from(area.height).saturating_sub(1);
    let top = top.min(lines.len().saturating_sub(rows));
    for (y, line) in (area.y + 1..area.bottom()).zip(lines.iter().skip(top)) {
        buffer.set_line(area.x, y, line, area.width);
    }
}

fn help(state: &State, top: usize, area: Rect, buffer: &mut Buffer) {
    const KEYS: usize = 9;
    let entries = |group: Group| {
        let keys = keys::lines(group).map(|(keys, words)| (keys, Some(words)));
        std::iter::once((group.word().to_owned(), None)).chain(keys)
    };
    let columns: Vec<Vec<_>> = if area.width >= 76 {
        let (left, right) = Group::ALL.split_at(2);
        [left, right].map(|groups| groups.iter().flat_map(|group| entries(*group)).collect()).into()
    } else {
        vec![Group::ALL.into_iter().flat_map(entries).collect()]
    };
    let longest = columns.iter().map(Vec::len).max().unwrap_or(0);
    let rows = usize::from(area.height).saturating_sub(1);
    let top = top.min(longest.saturating_sub(rows));
    let head = match longest.saturating_sub(top + rows) {
        0 => " mw top: keys. Press any other key to return.".to_owned(),
        below => format!(" keys: ↓ {below} more. Press any other key to return."),
    };
    heading(state, &head, area, buffer);
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
                    buffer.set_stringn(x, y, cell(keys, KEYS), room, state.theme.accent);
                    let room = room.saturating_sub(KEYS);
                    buffer.set_stringn(x + KEYS as u16, y, words, room, Style::new());
                }
            }
        }
    }
}
