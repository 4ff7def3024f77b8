//! Keys in text fields, questions, menus and help.

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use meanwhile::model::Status;
use mw_desk::OpenRequest;
use mw_desk::action::{ApprovalReply, Force, Removal, TaskAction};
use mw_desk::query::{Query, States};

use super::actions;
use crate::screen::TerminalRequest;
use crate::top::effect::Effect;
use crate::top::keys::{self, Action};
use crate::top::layout::Areas;
use crate::top::question::{Asking, Named, Question, subject};
use crate::top::state::{Menu, MenuKind, Mode, Prompt, Purpose, State};

/// The lines of the menu of states.
pub(crate) const STATES: [States; 9] = [
    States::Any,
    States::Live,
    States::Only(Status::Running),
    States::Only(Status::Pending),
    States::Only(Status::Completed),
    States::Only(Status::Failed),
    States::Only(Status::Cancelled),
    States::Only(Status::TimedOut),
    States::Only(Status::Lost),
];

pub(super) fn key(state: &mut State, key: KeyEvent) {
    if key.kind == KeyEventKind::Release {
        return;
    }
    if Areas::of(state).is_too_small() {
        return unseen(state, key);
    }
    let is_interrupt = key.code == KeyCode::Char('c') && key.modifiers == KeyModifiers::CONTROL;
    match std::mem::replace(&mut state.mode, Mode::Normal) {
        Mode::Normal => {
            state.message = None;
            if let Some(action) = keys::action_of(key) {
                actions::act(state, action);
            }
        }
        Mode::Typing(prompt) if is_interrupt => cancel(state, prompt),
        Mode::Typing(prompt) => typed(state, prompt, key),
        Mode::Asking(_) | Mode::Choosing(_) if is_interrupt => {}
        Mode::Asking(asking) => answered(state, asking, key),
        Mode::Choosing(menu) => chosen(state, menu, key),
        Mode::Help(top) => state.mode = turned(top, key).map_or(Mode::Normal, Mode::Help),
        Mode::Said(top) => state.mode = turned(top, key).map_or(Mode::Normal, Mode::Said),
    }
}

/// Handles a key on a window that is too small. It accepts only the keys that the window shows, because their effects
/// are visible.
fn unseen(state: &mut State, key: KeyEvent) {
    match keys::action_of(key) {
        Some(Action::Close | Action::Quit) => state.request(TerminalRequest::Quit),
        Some(Action::Suspend) => state.request(TerminalRequest::Suspend),
        Some(Action::Redraw) => state.request(TerminalRequest::Redraw),
        Some(_) | None => {}
    }
}

/// Returns whether a key is pressed without Ctrl and Alt.
fn is_plain(key: KeyEvent) -> bool {
    (key.modifiers - KeyModifiers::SHIFT).is_empty()
}

pub(super) fn paste(state: &mut State, text: &str) {
    let text = text.trim_end_matches(['\r', '\n']);
    match (&mut state.mode, text.contains(['\r', '\n'])) {
        (Mode::Typing(Prompt { purpose: Purpose::Input { id }, .. }), true) => {
            let text = format!("several lines: press a to attach to {id} and paste them there");
            state.fail(text);
        }
        (Mode::Typing(prompt), _) => {
            prompt.field.insert(&text.replace(['\r', '\n', '\t'], " "));
            let prompt = prompt.clone();
            show_filter(state, &prompt);
        }
        // Pasted text is never treated as keys.
        (Mode::Normal | Mode::Asking(_) | Mode::Choosing(_) | Mode::Help(_) | Mode::Said(_), _) => {
            state.fail("paste works only in a text field");
        }
    }
}

fn typed(state: &mut State, mut prompt: Prompt, key: KeyEvent) {
    match key.code {
        KeyCode::Enter => return done(state, prompt),
        KeyCode::Esc => return cancel(state, prompt),
        KeyCode::Char(c) if is_plain(key) => prompt.field.insert(c.encode_utf8(&mut [0; 4])),
        _ => _ = prompt.field.edit(key),
    }
    show_filter(state, &prompt);
    state.mode = Mode::Typing(prompt);
}

/// Applies a filter while it is typed.
fn show_filter(state: &mut State, prompt: &Prompt) {
    if let Purpose::Filter { .. } = prompt.purpose {
        actions::ask_for(state, Query { text: prompt.field.text.clone(), ..state.list.query.clone() });
    }
}

fn done(state: &mut State, prompt: Prompt) {
    match prompt.purpose {
        Purpose::Filter { .. } => {}
        Purpose::Search => {
            let (width, height) = state.detail_size();
            state.log.search_for(&prompt.field.text, height, width);
            actions::search_on(state);
        }
        Purpose::Input { id } => state.effects.push(Effect::Do(TaskAction::Input(id, prompt.field.text))),
    }
}

fn cancel(state: &mut State, prompt: Prompt) {
    if let Purpose::Filter { before } = prompt.purpose {
        actions::ask_for(state, Query { text: before, ..state.list.query.clone() });
    }
}

fn answered(state: &mut State, mut asking: Asking, key: KeyEvent) {
    let page = isize::try_from(asking.fitted(state.size).rows).unwrap_or(1);
    let moved = match keys::action_of(key) {
        Some(Action::Up) => Some(-1),
        Some(Action::Down) => Some(1),
        Some(Action::PageUp) => Some(-page),
        Some(Action::PageDown | Action::Mark) => Some(page),
        Some(Action::First) => Some(-isize::MAX),
        Some(Action::Last) => Some(isize::MAX),
        Some(_) | None => None,
    };
    if let Some(by) = moved {
        asking.scroll(by, state.size);
        state.mode = Mode::Asking(asking);
    } else if !is_plain(key) {
        state.mode = Mode::Asking(asking);
    } else if let Question::Answer(proposed) = &asking.question {
        let proposed = proposed.clone();
        judged(state, asking, proposed, key);
    } else {
        decided(state, asking, key);
    }
}

/// Answers an approval request. Approval is accepted only after the whole request was visible.
fn judged(state: &mut State, mut asking: Asking, proposed: OpenRequest, key: KeyEvent) {
    let step = |by: isize| {
        let index = state.proposed.iter().position(|other| other.id == proposed.id)?;
        let count = state.proposed.len() as isize;
        let other = (index as isize + by).rem_euclid(count) as usize;
        state.proposed.get(other).cloned().map(|other| Asking::new(Question::Answer(other)))
    };
    let reply = match key.code {
        KeyCode::Left => return state.mode = Mode::Asking(step(-1).unwrap_or(asking)),
        KeyCode::Right => return state.mode = Mode::Asking(step(1).unwrap_or(asking)),
        KeyCode::Char('q') | KeyCode::Esc => return,
        KeyCode::Char('n') => ApprovalReply::Deny,
        KeyCode::Char('y') => ApprovalReply::Once,
        KeyCode::Char('s') => ApprovalReply::Session,
        _ => return state.mode = Mode::Asking(asking),
    };
    if asking.is_early(state.clock) {
        return state.mode = Mode::Asking(asking);
    }
    if reply != ApprovalReply::Deny && !asking.is_read(state.size) {
        asking.refuse();
        return state.mode = Mode::Asking(asking);
    }
    let at = state.proposed.iter().position(|other| other.id == proposed.id).unwrap_or(0);
    state.proposed.retain(|other| other.id != proposed.id);
    // The next request follows, until all are answered.
    if let Some(next) = state.proposed.get(at).or_else(|| state.proposed.first()) {
        state.mode = Mode::Asking(Asking::next(Question::Answer(next.clone()), state.clock));
    }
    state.effects.push(Effect::Do(TaskAction::Answer(proposed.id, reply)));
}

/// Answers a confirmation question and removes the marks.
fn decided(state: &mut State, asking: Asking, key: KeyEvent) {
    let (doing, action) = match (asking.question, key.code) {
        (_, KeyCode::Char('n' | 'q') | KeyCode::Esc) => return,
        (Question::Kill(tasks), KeyCode::Char('y') | KeyCode::Enter) => {
            (format!("ending {} …", subject(&tasks)), TaskAction::Kill(ids(tasks), Force::Term))
        }
        (Question::Kill(tasks), KeyCode::Char('9')) => {
            (format!("killing {} …", subject(&tasks)), TaskAction::Kill(ids(tasks), Force::Kill))
        }
        (Question::Restart { tasks, .. }, KeyCode::Char('y') | KeyCode::Enter) => {
            (format!("restarting {} …", subject(&tasks)), TaskAction::Restart(ids(tasks)))
        }
        // A removal must be confirmed with `y`. Enter could be pressed by accident.
        (Question::Clear(tasks), KeyCode::Char('y')) => {
            (format!("removing {} …", subject(&tasks)), TaskAction::Clear(Removal::These(ids(tasks))))
        }
        (Question::ClearEnded { query, .. }, KeyCode::Char('y')) => {
            ("removing finished tasks …".to_owned(), TaskAction::Clear(Removal::Ended(query)))
        }
        (question, _) => return state.mode = Mode::Asking(Asking::new(question)),
    };
    state.marked.clear();
    state.note(doing);
    state.effects.push(Effect::Do(action));
}

fn ids(tasks: Vec<Named>) -> Vec<String> {
    tasks.into_iter().map(|task| task.id).collect()
}

fn chosen(state: &mut State, mut menu: Menu, key: KeyEvent) {
    let count = match &menu.kind {
        MenuKind::States => STATES.len(),
        // The first line stands for all sessions.
        MenuKind::Sessions(sessions) => sessions.len() + 1,
    };
    let index = match keys::action_of(key) {
        Some(Action::Up) => menu.selected.saturating_sub(1),
        Some(Action::Down) => menu.selected + 1,
        Some(Action::First) => 0,
        Some(Action::Last) => count,
        Some(Action::Back | Action::Close | Action::Quit) => return,
        Some(Action::Open) => {
            let query = state.list.query.clone();
            let query = match menu.kind {
                MenuKind::States => Query { states: STATES[menu.selected], ..query },
                MenuKind::Sessions(mut sessions) => {
                    let session = menu.selected.checked_sub(1).map(|at| sessions.swap_remove(at).0);
                    Query { session, ..query }
                }
            };
            return actions::ask_for(state, query);
        }
        _ => menu.selected,
    };
    menu.selected = index.min(count - 1);
    state.mode = Mode::Choosing(menu);
}

/// Scrolls a page of text. Returns nothing for any other key, which closes the page.
fn turned(top: usize, key: KeyEvent) -> Option<usize> {
    match keys::action_of(key)? {
        Action::Down => Some(top + 1),
        Action::Up => Some(top.saturating_sub(1)),
        Action::PageDown | Action::Mark => Some(top + 10),
        Action::PageUp => Some(top.saturating_sub(10)),
        _ => None,
    }
}
