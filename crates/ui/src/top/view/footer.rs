//! The last line: messages, the text field, or the most important keys.

use mw_desk::text::count;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;
use ratatui::widgets::{Clear, Widget};

use super::text::{filled, put, width_of};
use crate::top::keys::{Action, key_of};
use crate::top::state::{Focus, Message, Mode, Pane, Prompt, Purpose, State};

const IN_LIST: [(Action, &str); 8] = [
    (Action::Open, "open"),
    (Action::Kill, "kill"),
    (Action::Restart, "restart"),
    (Action::Find, "filter"),
    (Action::Mark, "mark"),
    (Action::Sort, "sort"),
    (Action::States, "state"),
    (Action::ShowTimeline, "timeline"),
];

const WITH_MARKS: [(Action, &str); 5] = [
    (Action::Mark, "mark"),
    (Action::Kill, "kill"),
    (Action::Restart, "restart"),
    (Action::Clear, "remove"),
    (Action::Back, "unmark"),
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
        Purpose::Input { id } => format!(" input for {id}: "),
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

/// A key with its description and position.
struct Hint {
    x: u16,
    action: Action,
    key: String,
    words: &'static str,
}

impl Hint {
    fn at(x: u16, (action, words): (Action, &'static str)) -> Self {
        Self { x, action, key: key_of(action), words }
    }

    fn end(&self) -> u16 {
        self.x + (width_of(&self.key) + 1 + width_of(self.words)) as u16
    }
}

/// Lays out the keys that matter most where one is, as many as fit. How to learn more and how to leave are always
/// there.
fn laid_out(state: &State, area: Rect) -> Vec<Hint> {
    let in_log = state.keys_go_to() == Focus::Detail && state.pane == Pane::Log;
    let keys: &[_] = match (in_log, state.marked.is_empty()) {
        (true, _) => &IN_LOG,
        (false, true) => &IN_LIST,
        (false, false) => &WITH_MARKS,
    };
    let asked = (!state.proposed.is_empty()).then_some((Action::Answer, "approve"));
    let reserved = ALWAYS.map(|hint| Hint::at(0, hint).end() + 2).iter().sum::<u16>();
    let reserved = reserved + width_of(&place(state)) as u16;
    let right = area.right().saturating_sub(reserved).max(area.x + 1);
    let mut hints: Vec<Hint> = Vec::new();
    let next = |hints: &[Hint], from: u16| hints.last().map_or(from, |last| last.end() + 2);
    for hint in asked.into_iter().chain(keys.iter().copied()) {
        let hint = Hint::at(next(&hints, area.x + 1), hint);
        if hint.end() < right {
            hints.push(hint);
        }
    }
    let mut x = right;
    for hint in ALWAYS.map(|(action, words)| Hint::at(0, (action, words))) {
        let hint = Hint { x, ..hint };
        x = hint.end() + 2;
        hints.push(hint);
    }
    hints
}

/// Returns the action of the hint at a column.
pub(in crate::top) fn hint_at(state: &State, area: Rect, x: u16) -> Option<Action> {
    if state.message.is_some() {
        return None;
    }
    laid_out(state, area).iter().find(|hint| (hint.x..hint.end()).contains(&x)).map(|hint| hint.action)
}

/// Returns where in the list one is.
fn place(state: &State) -> String {
    match state.list.total {
        0 => String::new(),
        total => format!("{}/{total} ", state.list.selected + 1),
    }
}

fn hints(state: &State, area: Rect, buffer: &mut Buffer) {
    let mut right = area.x;
    for hint in laid_out(state, area) {
        let room = |x: u16| usize::from(area.right().saturating_sub(x));
        buffer.set_stringn(hint.x, area.y, &hint.key, room(hint.x), state.theme.accent);
        let after = hint.x + width_of(&hint.key) as u16 + 1;
        buffer.set_stringn(after, area.y, hint.words, room(after), state.theme.dim);
        right = hint.end() + 2;
    }
    let place = place(state);
    let x = right.max(area.right().saturating_sub(width_of(&place) as u16));
    if x < area.right() {
        buffer.set_stringn(x, area.y, place, usize::from(area.right() - x), state.theme.dim);
    }
}
