//! The last line: messages, the text field, or the most important keys.

use mw_desk::text::{columns, count};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Clear, Widget};

use crate::screen::wrap;
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

/// Draws the footer. Returns the position of the cursor while a text is typed. A message covers as many lines above the
/// footer as it needs.
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
        lines.push(Line::styled(format!(" … {more} more: M shows all"), state.theme.accent));
    }
    let top = area.bottom() - lines.len() as u16;
    Clear.render(Rect { y: top, height: lines.len() as u16, ..area }, buffer);
    for (y, line) in (top..area.bottom()).zip(&lines) {
        buffer.set_line(area.x, y, line, area.width);
    }
    None
}

/// Wraps a message into lines of this width.
pub(super) fn message_lines(state: &State, message: &Message, width: usize) -> Vec<Line<'static>> {
    let (text, sign, style) = match message {
        Message::Note(text) => (text, " ", Style::new()),
        Message::Error(text) => (text, " ✗ ", state.theme.error),
    };
    let leads = std::iter::once(sign).chain(std::iter::repeat("   "));
    let lines = text.lines().zip(leads).flat_map(|(line, lead)| {
        let lines = wrap(&[Span::raw(line.to_owned())], width, lead, "   ");
        lines.into_iter().map(|line| line.style(style))
    });
    lines.collect()
}

fn typed(state: &State, prompt: &Prompt, area: Rect, buffer: &mut Buffer) -> Position {
    let label = match &prompt.purpose {
        Purpose::Filter { .. } => " filter: ".to_owned(),
        Purpose::Search => " search: ".to_owned(),
        Purpose::Input { id } => format!(" input for {id}: "),
    };
    buffer.set_stringn(area.x, area.y, &label, area.width.into(), state.theme.accent);
    let left = area.x + (columns(&label) as u16).min(area.width);
    let room = usize::from(area.right() - left).saturating_sub(1);
    // The end of the text is visible while it is typed, so the beginning is cut.
    let mut begin = 0;
    while columns(&prompt.field.text[begin..prompt.field.cursor]) > room {
        begin += prompt.field.text[begin..].chars().next().map_or(1, char::len_utf8);
    }
    buffer.set_stringn(left, area.y, &prompt.field.text[begin..], room, Style::new());
    let column = columns(&prompt.field.text[begin..prompt.field.cursor]) as u16;
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
        self.x + (columns(&self.key) + 1 + columns(self.words)) as u16
    }
}

/// Lays out as many hints for the focused part as fit. The keys for help and for leaving are always included.
fn laid_out(state: &State, area: Rect) -> Vec<Hint> {
    let in_log = state.keys_go_to() == Focus::Detail && state.pane == Pane::Log;
    let keys: &[_] = match (in_log, state.marked.is_empty()) {
        (true, _) => &IN_LOG,
        (false, true) => &IN_LIST,
        (false, false) => &WITH_MARKS,
    };
    let asked = (!state.proposed.is_empty()).then_some((Action::Answer, "approve"));
    let reserved = ALWAYS.map(|hint| Hint::at(0, hint).end() + 2).iter().sum::<u16>();
    let reserved = reserved + columns(&position(state)) as u16;
    let right = area.right().saturating_sub(reserved).max(area.x + 1);
    let mut hints: Vec<Hint> = Vec::new();
    for hint in asked.into_iter().chain(keys.iter().copied()) {
        let hint = Hint::at(hints.last().map_or(area.x + 1, |last| last.end() + 2), hint);
        if hint.end() < right {
            hints.push(hint);
        }
    }
    let mut x = right;
    for hint in ALWAYS {
        let hint = Hint::at(x, hint);
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

/// Returns the position of the selection in the list.
fn position(state: &State) -> String {
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
        let after = hint.x + columns(&hint.key) as u16 + 1;
        buffer.set_stringn(after, area.y, hint.words, room(after), state.theme.dim);
        right = hint.end() + 2;
    }
    let position = position(state);
    let x = right.max(area.right().saturating_sub(columns(&position) as u16));
    if x < area.right() {
        buffer.set_stringn(x, area.y, position, usize::from(area.right() - x), state.theme.dim);
    }
}
