//! Handles keys in dialog boxes.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use mw_desk::chat_protocol::{ApprovalReply, ChatOrder, ChatTask};

use super::dialog;
use super::questions::Meaning;
use super::state::{Effect, Leaving, Modal, State, Target};
use super::update::{in_talk, page};
use crate::screen::{TerminalRequest, TextField};

pub(super) fn in_question(state: &mut State, key: KeyEvent) {
    let rows = dialog::question_rows(state);
    match key.code {
        KeyCode::PageUp => state.questions.scroll(-page(rows), rows),
        KeyCode::PageDown => state.questions.scroll(page(rows), rows),
        KeyCode::Up => state.questions.scroll(-1, rows),
        KeyCode::Down => state.questions.scroll(1, rows),
        KeyCode::Home => state.questions.scroll(isize::MIN, rows),
        KeyCode::End => state.questions.scroll(isize::MAX, rows),
        KeyCode::Esc => state.questions.set_aside(),
        KeyCode::Char('c') if key.modifiers.contains(KeyModifiers::CONTROL) => leave(state),
        KeyCode::Char(c) if (key.modifiers - KeyModifiers::SHIFT).is_empty() => {
            match state.questions.typed(c, state.now) {
                Meaning::Answer(id, reply) => state.order(ChatOrder::Answer(id, reply)),
                Meaning::Because(id) => {
                    state.order(ChatOrder::Answer(id, ApprovalReply::Deny));
                    // Further requests wait until the reason is written.
                    state.questions.set_aside();
                    if state.composer.is_empty() {
                        state.composer.field = TextField::new("No, because ");
                    }
                }
                Meaning::Text if state.modal == Modal::None => {
                    state.questions.set_aside();
                    in_talk(state, key);
                }
                Meaning::Text | Meaning::Nothing => {}
            }
        }
        _ => {}
    }
}

pub(super) fn leaving(state: &mut State, key: KeyEvent, how: &Leaving) {
    let is_plain = key.modifiers.is_empty();
    match key.code {
        KeyCode::Char('y') | KeyCode::Enter if is_plain => state.request(TerminalRequest::Quit),
        // The user can leave even if the process behind the screen does not answer.
        KeyCode::Char('c') if !is_plain && *how == Leaving::Looks => state.request(TerminalRequest::Quit),
        KeyCode::Char('n') | KeyCode::Esc if is_plain => state.modal = Modal::None,
        _ => {}
    }
}

/// Starts to leave. The loaded tasks may be out of date, so they are requested again first.
pub(super) fn leave(state: &mut State) {
    let how = if state.tasks.is_empty() { Leaving::Looks } else { Leaving::Warned };
    state.modal = Modal::Leave(how);
    state.order(ChatOrder::Leave);
}

/// Quits, or asks for confirmation if tasks would end with the chat. If the user has closed the dialog meanwhile,
/// nothing happens.
pub(super) fn confirm_quit(state: &mut State, looked: Result<Vec<ChatTask>, String>) {
    if !matches!(state.modal, Modal::Leave(_)) {
        return;
    }
    state.modal = Modal::Leave(match looked {
        Ok(tasks) if tasks.is_empty() => return state.request(TerminalRequest::Quit),
        Ok(_) => Leaving::Warned,
        Err(why) => Leaving::Unseen(why),
    });
}

/// Returns the row that an arrow key selects. If the selected row no longer exists, the key selects the first or the
/// last row.
fn neighbour<T: Clone + PartialEq>(rows: &[T], selected: Option<&T>, code: KeyCode) -> Option<T> {
    let at = rows.iter().position(|row| Some(row) == selected);
    let last = rows.len().saturating_sub(1);
    let next = match (code, at) {
        (KeyCode::Up, Some(at)) => at.saturating_sub(1),
        (KeyCode::Up, None) => last,
        (_, Some(at)) => (at + 1).min(last),
        (_, None) => 0,
    };
    rows.get(next).cloned()
}

pub(super) fn open_tasks(state: &mut State) {
    state.modal = Modal::Tasks(state.tasks.first().map(|task| task.id.clone()));
}

pub(super) fn open_cancel(state: &mut State) {
    state.modal = Modal::Cancel(state.targets().into_iter().next());
}

pub(super) fn in_tasks(state: &mut State, key: KeyEvent, selected: Option<&str>) {
    let task = state.tasks.iter().find(|task| Some(task.id.as_str()) == selected);
    match (key.code, key.modifiers) {
        (KeyCode::Up | KeyCode::Down, _) | (KeyCode::Char('j' | 'k'), KeyModifiers::NONE) => {
            let ids: Vec<_> = state.tasks.iter().map(|task| task.id.as_str()).collect();
            let next = neighbour(&ids, selected.as_ref(), arrow(key.code));
            state.modal = Modal::Tasks(next.map(str::to_owned));
        }
        (KeyCode::Char('b'), _) => {
            state.modal = Modal::None;
            if state.has_foreground() {
                state.order(ChatOrder::MoveToBackground);
            }
        }
        (KeyCode::Char('k'), KeyModifiers::CONTROL) => open_cancel(state),
        (KeyCode::Char('x'), KeyModifiers::NONE) => {
            if let Some(task) = task {
                state.modal = Modal::Kill(Box::new(task.clone()));
            }
        }
        (KeyCode::Char('e'), KeyModifiers::NONE) => {
            state.effects.extend(task.map(|task| Effect::Open(task.log.clone())));
        }
        (KeyCode::Esc | KeyCode::Char('c' | 'q'), _) => state.modal = Modal::None,
        _ => {}
    }
}

/// Handles the answer to the question whether to kill a task, and shows the list again.
pub(super) fn in_kill(state: &mut State, key: KeyEvent, id: String) {
    let is_plain = key.modifiers.is_empty();
    match key.code {
        KeyCode::Char('y') | KeyCode::Enter if is_plain => state.order(ChatOrder::Kill(id.clone())),
        KeyCode::Char('n' | 'q') | KeyCode::Esc if is_plain => {}
        KeyCode::Char('c') if !is_plain => {}
        _ => return,
    }
    state.modal = Modal::Tasks(Some(id));
}

/// Maps a letter to its arrow key.
const fn arrow(code: KeyCode) -> KeyCode {
    match code {
        KeyCode::Char('k') => KeyCode::Up,
        KeyCode::Char('j') => KeyCode::Down,
        other => other,
    }
}

pub(super) fn in_cancel(state: &mut State, key: KeyEvent, selected: Option<&Target>) {
    let targets = state.targets();
    match (key.code, key.modifiers) {
        (KeyCode::Up | KeyCode::Down, _) | (KeyCode::Char('j' | 'k'), KeyModifiers::NONE) => {
            state.modal = Modal::Cancel(neighbour(&targets, selected, arrow(key.code)));
        }
        (KeyCode::Char('b'), KeyModifiers::CONTROL) => open_tasks(state),
        (KeyCode::Enter, _) => {
            let Some(target) = targets.into_iter().find(|target| Some(target) == selected) else { return };
            state.modal = Modal::None;
            state.order(match target {
                Target::Turn => ChatOrder::Stop,
                Target::Task(id) => ChatOrder::Kill(id),
            });
        }
        (KeyCode::Esc | KeyCode::Char('k' | 'q' | 'c'), _) => state.modal = Modal::None,
        _ => {}
    }
}
