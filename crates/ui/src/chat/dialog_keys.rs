//! The keys of dialog boxes.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use mw_desk::chat::{ChatOrder, ChatTask};

use super::asked::Meaning;
use super::dialog;
use super::state::{Effect, Leaving, Modal, State, Target};
use super::update::{in_talk, page};

pub(super) fn in_question(state: &mut State, key: KeyEvent) -> Vec<Effect> {
    let rows = dialog::question_rows(state);
    match key.code {
        KeyCode::PageUp => state.questions.scroll(-page(rows), rows),
        KeyCode::PageDown => state.questions.scroll(page(rows), rows),
        KeyCode::Up => state.questions.scroll(-1, rows),
        KeyCode::Down => state.questions.scroll(1, rows),
        KeyCode::Home => state.questions.scroll(isize::MIN, rows),
        KeyCode::End => state.questions.scroll(isize::MAX, rows),
        KeyCode::Esc => state.questions.set_aside(),
        KeyCode::Char('c') if key.modifiers.contains(KeyModifiers::CONTROL) => return leave(state),
        KeyCode::Char(c) if (key.modifiers - KeyModifiers::SHIFT).is_empty() => {
            match state.questions.typed(c, state.now) {
                Meaning::Answer(id, reply) => return vec![Effect::Order(ChatOrder::Answer(id, reply))],
                Meaning::Text if state.modal == Modal::None => {
                    state.questions.set_aside();
                    return in_talk(state, key);
                }
                Meaning::Text | Meaning::Nothing => {}
            }
        }
        _ => {}
    }
    Vec::new()
}

pub(super) fn leaving(state: &mut State, key: KeyEvent, how: &Leaving) -> Vec<Effect> {
    let is_plain = key.modifiers.is_empty();
    match key.code {
        KeyCode::Char('y') | KeyCode::Enter if is_plain => vec![Effect::Quit],
        // The user can leave even if the process behind the screen does not answer.
        KeyCode::Char('c') if !is_plain && *how == Leaving::Looks => vec![Effect::Quit],
        KeyCode::Char('n') | KeyCode::Esc if is_plain => {
            state.modal = Modal::None;
            Vec::new()
        }
        _ => Vec::new(),
    }
}

/// Starts to leave. The known tasks may be out of date, so the store is asked first.
pub(super) fn leave(state: &mut State) -> Vec<Effect> {
    let how = if state.tasks.is_empty() { Leaving::Looks } else { Leaving::Warned };
    state.modal = Modal::Leave(how);
    vec![Effect::Order(ChatOrder::Leave)]
}

/// Quits, unless tasks would end with the chat: then it asks. If the person has decided to stay meanwhile, it stays.
pub(super) fn looked_round(state: &mut State, looked: Result<Vec<ChatTask>, String>) -> Vec<Effect> {
    if !matches!(state.modal, Modal::Leave(_)) {
        return Vec::new();
    }
    let how = match looked {
        Ok(tasks) if tasks.is_empty() => return vec![Effect::Quit],
        Ok(_) => Leaving::Warned,
        Err(why) => Leaving::Unseen(why),
    };
    state.modal = Modal::Leave(how);
    Vec::new()
}

/// Where a key goes from what is selected. What is gone is not replaced by what stands in its place now: then an arrow
/// selects the first or the last.
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

pub(super) fn in_tasks(state: &mut State, key: KeyEvent, selected: Option<&str>) -> Vec<Effect> {
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
                return vec![Effect::Order(ChatOrder::MoveToBackground)];
            }
        }
        (KeyCode::Char('k'), KeyModifiers::CONTROL) => open_cancel(state),
        (KeyCode::Char('x'), KeyModifiers::NONE) => {
            if let Some(task) = task {
                state.modal = Modal::Kill(Box::new(task.clone()));
            }
        }
        (KeyCode::Char('e'), KeyModifiers::NONE) => {
            return task.map(|task| Effect::Open(task.log.clone())).into_iter().collect();
        }
        (KeyCode::Esc | KeyCode::Char('c' | 'q'), _) => {
            state.modal = Modal::None;
        }
        _ => {}
    }
    Vec::new()
}

/// Kills the task that was asked about, or does not; the list comes back.
pub(super) fn in_kill(state: &mut State, key: KeyEvent, id: String) -> Vec<Effect> {
    let is_plain = key.modifiers.is_empty();
    match key.code {
        KeyCode::Char('y') | KeyCode::Enter if is_plain => {
            state.modal = Modal::Tasks(Some(id.clone()));
            vec![Effect::Order(ChatOrder::Kill(id))]
        }
        KeyCode::Char('n' | 'q') | KeyCode::Esc if is_plain => {
            state.modal = Modal::Tasks(Some(id));
            Vec::new()
        }
        KeyCode::Char('c') if !is_plain => {
            state.modal = Modal::Tasks(Some(id));
            Vec::new()
        }
        _ => Vec::new(),
    }
}

/// Returns the arrow key of a letter.
const fn arrow(code: KeyCode) -> KeyCode {
    match code {
        KeyCode::Char('k') => KeyCode::Up,
        KeyCode::Char('j') => KeyCode::Down,
        other => other,
    }
}

pub(super) fn in_cancel(state: &mut State, key: KeyEvent, selected: Option<&Target>) -> Vec<Effect> {
    let targets = state.targets();
    match (key.code, key.modifiers) {
        (KeyCode::Up | KeyCode::Down, _) | (KeyCode::Char('j' | 'k'), KeyModifiers::NONE) => {
            state.modal = Modal::Cancel(neighbour(&targets, selected, arrow(key.code)));
        }
        (KeyCode::Char('b'), KeyModifiers::CONTROL) => open_tasks(state),
        (KeyCode::Enter, _) => {
            let Some(target) = targets.into_iter().find(|target| Some(target) == selected) else {
                return Vec::new();
            };
            state.modal = Modal::None;
            return vec![Effect::Order(match target {
                Target::Turn => ChatOrder::Stop,
                Target::Task(id) => ChatOrder::Kill(id),
            })];
        }
        (KeyCode::Esc | KeyCode::Char('k' | 'q' | 'c'), _) => state.modal = Modal::None,
        _ => {}
    }
    Vec::new()
}
