//! The menu of slash commands: those of the chat and those of the agent that begin with what was typed.

use crossterm::event::{KeyCode, KeyEvent};
use mw_desk::chat_protocol::COMMANDS;
use mw_desk::text::{cell, columns, shortened};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::{Clear, Widget};

use super::state::State;
use crate::screen::TextField;

/// The maximum number of lines of the menu.
const MAX_LINES: usize = 10;

/// The state of the menu.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Menu {
    selected: usize,
    /// The text for which the menu was closed.
    closed_for: Option<String>,
}

/// A line of the menu.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Choice {
    name: String,
    arguments: &'static str,
    about: String,
}

/// Returns the commands that begin with the typed text. There are none unless a command is being typed.
fn choices(state: &State) -> Vec<Choice> {
    let text = state.composer.text();
    let Some(typed) = text.strip_prefix('/').filter(|typed| !typed.contains(char::is_whitespace)) else {
        return Vec::new();
    };
    if state.menu.closed_for.as_deref() == Some(text) {
        return Vec::new();
    }
    let ours = COMMANDS.iter().map(|(name, arguments, about)| Choice {
        name: (*name).to_owned(),
        arguments,
        about: (*about).to_owned(),
    });
    let is_new = |name: &str| COMMANDS.iter().all(|(ours, ..)| *ours != name);
    let theirs = state.commands.iter().filter(|command| is_new(&command.name)).map(|command| Choice {
        name: command.name.clone(),
        arguments: "",
        about: format!("{} ({})", command.description.lines().next().unwrap_or_default(), state.agent),
    });
    ours.chain(theirs).filter(|choice| choice.name.starts_with(typed)).collect()
}

/// Handles a key while the menu is open. Returns whether the key was used.
pub(super) fn take(state: &mut State, key: KeyEvent) -> bool {
    let choices = choices(state);
    let last = choices.len().saturating_sub(1);
    state.menu.selected = state.menu.selected.min(last);
    if choices.is_empty() || !key.modifiers.is_empty() {
        return false;
    }
    let chosen = &choices[state.menu.selected];
    let is_complete = state.composer.text().strip_prefix('/') == Some(&chosen.name);
    match key.code {
        KeyCode::Up => state.menu.selected = state.menu.selected.saturating_sub(1),
        KeyCode::Down => state.menu.selected = (state.menu.selected + 1).min(last),
        KeyCode::Esc => state.menu.closed_for = Some(state.composer.text().to_owned()),
        // A complete command is sent.
        KeyCode::Enter
            if is_complete || choices.iter().any(|one| format!("/{}", one.name) == state.composer.text()) =>
        {
            return false;
        }
        KeyCode::Tab | KeyCode::Enter => {
            let space = if chosen.arguments.is_empty() && key.code == KeyCode::Enter { "" } else { " " };
            state.composer.field = TextField::new(&format!("/{}{space}", chosen.name));
            state.menu.selected = 0;
        }
        _ => {
            state.menu.selected = 0;
            return false;
        }
    }
    true
}

/// Draws the menu above the input field.
pub(super) fn draw(state: &State, composer: Rect, buffer: &mut Buffer) {
    let choices = choices(state);
    let rows = choices.len().min(MAX_LINES).min(usize::from(composer.y.saturating_sub(1)));
    if rows == 0 {
        return;
    }
    let selected = state.menu.selected.min(choices.len() - 1);
    let first = (selected + 1).saturating_sub(rows);
    let command = |choice: &Choice| format!("/{} {}", choice.name, choice.arguments).trim_end().to_owned();
    let widest = choices.iter().map(|choice| columns(&command(choice))).max().unwrap_or(0).min(28);
    let area = Rect { y: composer.y - rows as u16, height: rows as u16, ..composer };
    Clear.render(area, buffer);
    for (y, (at, choice)) in (area.y..).zip(choices.iter().enumerate().skip(first).take(rows)) {
        let is_selected = at == selected;
        let row = Rect { y, height: 1, ..area };
        if is_selected {
            buffer.set_style(row, state.theme.selected);
        }
        let mark = if is_selected { "▸" } else { " " };
        let room = usize::from(area.width).saturating_sub(widest + 5);
        buffer.set_string(row.x + 1, y, mark, state.theme.on_selected(state.theme.accent));
        let style = if is_selected { state.theme.selected } else { state.theme.accent };
        buffer.set_stringn(row.x + 3, y, cell(&command(choice), widest), widest, style);
        let style = if is_selected { state.theme.selected } else { state.theme.dim };
        buffer.set_stringn(row.x + 5 + widest as u16, y, shortened(&choice.about, room), room, style);
    }
}
