//! The last line: what was said, what is typed, or which keys there are.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;

use super::put;
use super::text::width_of;
use crate::tui::keys::{Action, BINDINGS};
use crate::tui::state::{Focus, Message, Mode, Pane, Prompt, Purpose, State, Zoom};

const IN_LIST: [(Action, &str); 9] = [
    (Action::Open, "open"),
    (Action::OtherPane, "log"),
    (Action::Kill, "kill"),
    (Action::Restart, "restart"),
    (Action::Find, "filter"),
    (Action::States, "state"),
    (Action::Sort, "sort"),
    (Action::Help, "help"),
    (Action::Quit, "quit"),
];

const IN_LOG: [(Action, &str); 9] = [
    (Action::Back, "back"),
    (Action::Find, "search"),
    (Action::NextMatch, "next"),
    (Action::Follow, "follow"),
    (Action::Streams, "stdout/stderr"),
    (Action::Wrap, "wrap"),
    (Action::Editor, "editor"),
    (Action::Help, "help"),
    (Action::Quit, "quit"),
];

/// Draws the line; returns where the cursor is, if something is typed.
pub(super) fn draw(state: &State, area: Rect, buffer: &mut Buffer) -> Option<Position> {
    if let Mode::Typing(prompt) = &state.mode {
        return Some(typed(state, prompt, area, buffer));
    }
    match &state.message {
        Some(Message::Note(text)) => put(buffer, area, area.y, &format!(" {text}"), Style::new()),
        Some(Message::Error(text)) => put(buffer, area, area.y, &format!(" ✗ {text}"), state.theme.error),
        None => hints(state, area, buffer),
    }
    None
}

fn typed(state: &State, prompt: &Prompt, area: Rect, buffer: &mut Buffer) -> Position {
    let label = match &prompt.purpose {
        Purpose::Filter { .. } => " filter: ".to_owned(),
        Purpose::Search => " search: ".to_owned(),
        Purpose::Input { id } => format!(" line for {id}: "),
    };
    buffer.set_stringn(area.x, area.y, &label, area.width.into(), state.theme.accent);
    let left = area.x + (width_of(&label) as u16).min(area.width);
    let room = usize::from(area.right() - left).saturating_sub(1);
    // The end is what is being typed, so the beginning makes room.
    let mut begin = 0;
    while width_of(&prompt.text[begin..prompt.cursor]) > room {
        begin += prompt.text[begin..].chars().next().map_or(1, char::len_utf8);
    }
    buffer.set_stringn(left, area.y, &prompt.text[begin..], room, Style::new());
    let column = width_of(&prompt.text[begin..prompt.cursor]) as u16;
    Position::new((left + column).min(area.right() - 1), area.y)
}

fn hints(state: &State, area: Rect, buffer: &mut Buffer) {
    let in_log = (state.focus == Focus::Detail || state.zoom == Zoom::Detail) && state.pane == Pane::Log;
    let hints = if in_log { IN_LOG } else { IN_LIST };
    let place = match state.list.total {
        0 => String::new(),
        total => format!(" {}/{total} ", state.list.selected + 1),
    };
    let right = area.right() - (width_of(&place) as u16).min(area.width);
    let mut x = area.x + 1;
    for (action, words) in hints {
        let Some(binding) = BINDINGS.iter().find(|binding| binding.action == action) else { continue };
        let key = binding.shown.split(' ').next().unwrap_or(binding.shown);
        let width = (width_of(key) + width_of(words) + 3) as u16;
        if x + width > right {
            break;
        }
        buffer.set_string(x, area.y, key, state.theme.accent);
        buffer.set_string(x + width_of(key) as u16 + 1, area.y, words, state.theme.dim);
        x += width;
    }
    buffer.set_stringn(right, area.y, place, usize::from(area.right() - right), state.theme.dim);
}
