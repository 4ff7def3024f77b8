//! The last line: what was said, what is typed, or which keys there are.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;
use ratatui::widgets::{Clear, Widget};

use super::put;
use super::text::{filled, width_of};
use crate::text::count;
use crate::tui::keys::{Action, BINDINGS};
use crate::tui::state::{Focus, Message, Mode, Pane, Prompt, Purpose, State};

const IN_LIST: [(Action, &str); 7] = [
    (Action::Open, "open"),
    (Action::OtherPane, "log"),
    (Action::Kill, "kill"),
    (Action::Restart, "restart"),
    (Action::Find, "filter"),
    (Action::States, "state"),
    (Action::Sort, "sort"),
];

const IN_LOG: [(Action, &str); 7] = [
    (Action::Back, "back"),
    (Action::Find, "search"),
    (Action::NextMatch, "next"),
    (Action::Follow, "follow"),
    (Action::Streams, "stdout/stderr"),
    (Action::Wrap, "wrap"),
    (Action::Editor, "editor"),
];

const ALWAYS: [(Action, &str); 2] = [(Action::Help, "help"), (Action::Close, "quit")];

/// Draws the line; returns where the cursor is, if something is typed. What was said takes the lines it needs, over what
/// is above.
pub(super) fn draw(state: &State, area: Rect, buffer: &mut Buffer) -> Option<Position> {
    if let Mode::Typing(prompt) = &state.mode {
        return Some(typed(state, prompt, area, buffer));
    }
    let Some(message) = &state.message else {
        hints(state, area, buffer);
        return None;
    };
    let mut lines = message_lines(state, message, area.width.into());
    let most = usize::from(area.bottom() / 3).max(1);
    if lines.len() > most {
        let more = count(lines.len() + 1 - most, "line", "lines");
        lines.truncate(most - 1);
        lines.push((format!(" … {more} more: M shows all"), state.theme.accent));
    }
    let top = area.bottom() - lines.len() as u16;
    let over = Rect { y: top, height: lines.len() as u16, ..area };
    Clear.render(over, buffer);
    for (y, (line, style)) in (top..area.bottom()).zip(&lines) {
        put(buffer, over, y, line, *style);
    }
    None
}

/// Returns what was said in lines of this width.
pub(super) fn message_lines(state: &State, message: &Message, width: usize) -> Vec<(String, Style)> {
    let (text, sign, style) = match message {
        Message::Note(text) => (text, " ", Style::new()),
        Message::Error(text) => (text, " ✗ ", state.theme.error),
    };
    let room = width.saturating_sub(width_of(sign)).max(1);
    let lines = text.lines().flat_map(|line| filled(line, room));
    lines
        .enumerate()
        .map(|(at, line)| if at == 0 { format!("{sign}{line}") } else { format!("   {line}") })
        .map(|line| (line, style))
        .collect()
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
    let in_log = state.keys_go_to() == Focus::Detail && state.pane == Pane::Log;
    let asked = (!state.proposed.is_empty()).then_some((Action::Answer, "approve"));
    let hints = asked.into_iter().chain(if in_log { IN_LOG } else { IN_LIST });
    let place = match state.list.total {
        0 => String::new(),
        total => format!("{}/{total} ", state.list.selected + 1),
    };
    // How to learn more and how to leave are always there.
    let always = ALWAYS.map(|(action, words)| format!("{} {words}", key_of(action)));
    let reserved = always.iter().map(|text| width_of(text) + 2).sum::<usize>() + width_of(&place);
    let right = area.right().saturating_sub(u16::try_from(reserved).unwrap_or(u16::MAX)).max(area.x + 1);
    let mut put = |x: u16, action: Action, words: &str| {
        let key = key_of(action);
        let room = usize::from(area.right().saturating_sub(x));
        buffer.set_stringn(x, area.y, key, room, state.theme.accent);
        let after = x + width_of(key) as u16 + 1;
        buffer.set_stringn(after, area.y, words, room.saturating_sub(width_of(key) + 1), state.theme.dim);
        after + width_of(words) as u16 + 2
    };
    let mut x = area.x + 1;
    for (action, words) in hints {
        if x + (width_of(key_of(action)) + width_of(words) + 3) as u16 <= right {
            x = put(x, action, words);
        }
    }
    let after = ALWAYS.iter().fold(right, |x, (action, words)| put(x, *action, words));
    let room = usize::from(area.right().saturating_sub(after));
    buffer.set_stringn(after.min(area.right() - 1), area.y, place, room, state.theme.dim);
}

/// Returns the first key for an action.
fn key_of(action: Action) -> &'static str {
    let binding = BINDINGS.iter().find(|binding| binding.action == action);
    binding.and_then(|binding| binding.shown.split(' ').next()).unwrap_or_default()
}
