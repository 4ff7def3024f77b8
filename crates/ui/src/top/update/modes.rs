//! Keys in text fields, questions, menus and help.

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use meanwhile::model::Status;
use mw_desk::Proposed;
use mw_desk::action::{Force, Removal, Reply, TaskAction};
use mw_desk::query::{Query, States};

use super::actions;
use super::take::say;
use crate::top::effect::Effect;
use crate::top::keys;
use crate::top::keys::Action;
use crate::top::layout::Areas;
use crate::top::question::{Asking, Named, Question, subject};
use crate::top::state::{Menu, MenuKind, Message, Mode, Prompt, Purpose, State};

/// The states of the menu, in order.
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

pub(super) fn key(state: &mut State, key: KeyEvent, effects: &mut Vec<Effect>) {
    if key.kind == KeyEventKind::Release {
        return;
    }
    if Areas::of(state).is_too_small() {
        return unseen(key, effects);
    }
    let is_interrupt = key.code == KeyCode::Char('c') && key.modifiers == KeyModifiers::CONTROL;
    match std::mem::replace(&mut state.mode, Mode::Normal) {
        Mode::Normal => {
            state.message = None;
            if let Some(action) = keys::action_of(key) {
                actions::act(state, action, effects);
            }
        }
        Mode::Typing(prompt) if is_interrupt => cancel(state, prompt, effects),
        Mode::Typing(prompt) => typed(state, prompt, key, effects),
        Mode::Asking(_) if is_interrupt => {}
        Mode::Asking(asking) => answered(state, asking, key, effects),
        Mode::Choosing(_) if is_interrupt => {}
        Mode::Choosing(menu) => chosen(state, menu, key, effects),
        Mode::Help(top) => state.mode = turned(top, key).map_or(Mode::Normal, Mode::Help),
        Mode::Said(top) => state.mode = turned(top, key).map_or(Mode::Normal, Mode::Said),
    }
}

/// Nothing invisible is done: a window that is too small accepts only the keys that it shows.
fn unseen(key: KeyEvent, effects: &mut Vec<Effect>) {
    match keys::action_of(key) {
        Some(Action::Close | Action::Quit) => effects.push(Effect::Quit),
        Some(Action::Suspend) => effects.push(Effect::Suspend),
        Some(Action::Redraw) => effects.push(Effect::Redraw),
        Some(_) | None => {}
    }
}

/// Returns whether a key is pressed without Ctrl or Alt.
fn is_plain(key: KeyEvent) -> bool {
    (key.modifiers - KeyModifiers::SHIFT).is_empty()
}

pub(super) fn paste(state: &mut State, text: &str, effects: &mut Vec<Effect>) {
    let text = text.trim_end_matches(['\r', '\n']);
    match (&mut state.mode, text.contains(['\r', '\n'])) {
        (Mode::Typing(Prompt { purpose: Purpose::Input { id }, .. }), true) => {
            let text = format!("several lines: press a to attach to {id} and paste them there");
            say(state, Message::Error(text));
        }
        (Mode::Typing(prompt), _) => {
            for c in text.chars().map(|c| if matches!(c, '\r' | '\n' | '\t') { ' ' } else { c }) {
                if !c.is_control() {
                    insert(prompt, c);
                }
            }
            let prompt = prompt.clone();
            show_filter(state, &prompt, effects);
        }
        // Pasted text does not count as keys.
        (Mode::Normal | Mode::Asking(_) | Mode::Choosing(_) | Mode::Help(_) | Mode::Said(_), _) => {
            say(state, Message::Error("paste works only in a text field".to_owned()));
        }
    }
}

fn insert(prompt: &mut Prompt, c: char) {
    prompt.text.insert(prompt.cursor, c);
    prompt.cursor += c.len_utf8();
}

fn before(prompt: &Prompt) -> usize {
    prompt.text[..prompt.cursor].char_indices().next_back().map_or(0, |(at, _)| at)
}

fn after(prompt: &Prompt) -> usize {
    prompt.text[prompt.cursor..].chars().next().map_or(prompt.cursor, |c| prompt.cursor + c.len_utf8())
}

fn typed(state: &mut State, mut prompt: Prompt, key: KeyEvent, effects: &mut Vec<Effect>) {
    let control = key.modifiers.contains(KeyModifiers::CONTROL);
    match key.code {
        KeyCode::Enter => return done(state, prompt, effects),
        KeyCode::Esc => return cancel(state, prompt, effects),
        KeyCode::Char('u') if control => {
            prompt.text.drain(..prompt.cursor);
            prompt.cursor = 0;
        }
        KeyCode::Char('w') if control => {
            let kept = prompt.text[..prompt.cursor].trim_end();
            let start = kept.rfind(' ').map_or(0, |at| at + 1);
            prompt.text.drain(start..prompt.cursor);
            prompt.cursor = start;
        }
        KeyCode::Char('a') if control => prompt.cursor = 0,
        KeyCode::Char('e') if control => prompt.cursor = prompt.text.len(),
        KeyCode::Char(c) if is_plain(key) && !c.is_control() => insert(&mut prompt, c),
        KeyCode::Backspace => {
            let start = before(&prompt);
            prompt.text.drain(start..prompt.cursor);
            prompt.cursor = start;
        }
        KeyCode::Delete => {
            let end = after(&prompt);
            prompt.text.drain(prompt.cursor..end);
        }
        KeyCode::Left => prompt.cursor = before(&prompt),
        KeyCode::Right => prompt.cursor = after(&prompt),
        KeyCode::Home => prompt.cursor = 0,
        KeyCode::End => prompt.cursor = prompt.text.len(),
        _ => {}
    }
    show_filter(state, &prompt, effects);
    state.mode = Mode::Typing(prompt);
}

/// A filter applies while it is typed.
fn show_filter(state: &mut State, prompt: &Prompt, effects: &mut Vec<Effect>) {
    match &prompt.purpose {
        Purpose::Filter { .. } => {
            let query = Query { text: prompt.text.clone(), ..state.list.query.clone() };
            actions::ask_for(state, query, effects);
        }
        Purpose::Search | Purpose::Input { .. } => {}
    }
}

fn done(state: &mut State, prompt: Prompt, effects: &mut Vec<Effect>) {
    match prompt.purpose {
        Purpose::Filter { .. } => {}
        Purpose::Search => {
            let (width, height) = state.detail_size();
            state.log.search_for(&prompt.text, height, width);
            if let Some(search) = &state.log.search
                && search.lines.is_empty()
            {
                let text = format!("{:?} not found in the part of the log that was read", search.text);
                say(state, Message::Error(text));
            }
        }
        Purpose::Input { id } => effects.push(Effect::Do(TaskAction::Input(id, prompt.text))),
    }
}

fn cancel(state: &mut State, prompt: Prompt, effects: &mut Vec<Effect>) {
    match prompt.purpose {
        Purpose::Filter { before } => {
            let query = Query { text: before, ..state.list.query.clone() };
            actions::ask_for(state, query, effects);
        }
        Purpose::Search | Purpose::Input { .. } => {}
    }
}

fn answered(state: &mut State, mut asking: Asking, key: KeyEvent, effects: &mut Vec<Effect>) {
    let page = isize::try_from(asking.fitted(state.size).rows).unwrap_or(1);
    let moved = match keys::action_of(key) {
        Some(Action::Up) => Some(-1),
        Some(Action::Down) => Some(1),
        Some(Action::PageUp) => Some(-page),
        Some(Action::PageDown | Action::Mark) => Some(page),
        Some(_) | None => None,
    };
    if let Some(by) = moved {
        asking.scroll(by, state.size);
        state.mode = Mode::Asking(asking);
    } else if !is_plain(key) {
        state.mode = Mode::Asking(asking);
    } else if let Question::Answer(proposed) = &asking.question {
        let proposed = proposed.clone();
        judged(state, asking, proposed, key, effects);
    } else {
        decided(state, asking, key, effects);
    }
}

/// Answers an approval request. A yes is accepted only after the whole request was on screen.
fn judged(state: &mut State, asking: Asking, proposed: Proposed, key: KeyEvent, effects: &mut Vec<Effect>) {
    let step = |by: isize| {
        let place = state.proposed.iter().position(|other| other.id == proposed.id)?;
        let count = state.proposed.len() as isize;
        let other = (place as isize + by).rem_euclid(count) as usize;
        state.proposed.get(other).cloned().map(|other| Asking::new(Question::Answer(other)))
    };
    let reply = match key.code {
        KeyCode::Left => return state.mode = Mode::Asking(step(-1).unwrap_or(asking)),
        KeyCode::Right => return state.mode = Mode::Asking(step(1).unwrap_or(asking)),
        KeyCode::Char('q') | KeyCode::Esc => return,
        KeyCode::Char('n') => Reply::Deny,
        KeyCode::Char('y') => Reply::Once,
        KeyCode::Char('s') => Reply::Session,
        _ => return state.mode = Mode::Asking(asking),
    };
    if reply != Reply::Deny && !asking.is_read(state.size) {
        say(state, Message::Error("read to the end first: ↓ or Space; n denies".to_owned()));
        return state.mode = Mode::Asking(asking);
    }
    state.proposed.retain(|other| other.id != proposed.id);
    effects.push(Effect::Do(TaskAction::Answer(proposed.id, reply)));
}

/// Answers a confirmation question. The marks are removed.
fn decided(state: &mut State, asking: Asking, key: KeyEvent, effects: &mut Vec<Effect>) {
    let (doing, deed) = match (asking.question, key.code) {
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
        // A removal needs a y, not a key that may be pressed by accident.
        (Question::Clear(tasks), KeyCode::Char('y')) => {
            (format!("removing {} …", subject(&tasks)), TaskAction::Clear(Removal::These(ids(tasks))))
        }
        (Question::ClearEnded { query, .. }, KeyCode::Char('y')) => {
            ("removing finished tasks …".to_owned(), TaskAction::Clear(Removal::Ended(query)))
        }
        (question, _) => return state.mode = Mode::Asking(Asking::new(question)),
    };
    state.marked.clear();
    say(state, Message::Note(doing));
    effects.push(Effect::Do(deed));
}

fn ids(tasks: Vec<Named>) -> Vec<String> {
    tasks.into_iter().map(|task| task.id).collect()
}

fn chosen(state: &mut State, mut menu: Menu, key: KeyEvent, effects: &mut Vec<Effect>) {
    let count = match &menu.kind {
        MenuKind::States => STATES.len(),
        // The first line means all of them.
        MenuKind::Sessions(sessions) => sessions.len() + 1,
    };
    let place = match keys::action_of(key) {
        Some(Action::Up) => menu.selected.saturating_sub(1),
        Some(Action::Down) => menu.selected + 1,
        Some(Action::First) => 0,
        Some(Action::Last) => count,
        Some(Action::Back | Action::Close | Action::Quit) => return,
        Some(Action::Open) => {
            match menu.kind {
                MenuKind::States => actions::choose_states(state, STATES[menu.selected], effects),
                MenuKind::Sessions(mut sessions) => {
                    let session = menu.selected.checked_sub(1).map(|at| sessions.swap_remove(at).0);
                    actions::choose_session(state, session, effects);
                }
            }
            return;
        }
        _ => menu.selected,
    };
    menu.selected = place.min(count - 1);
    state.mode = Mode::Choosing(menu);
}

/// Scrolls a text page; any other key returns.
fn turned(top: usize, key: KeyEvent) -> Option<usize> {
    match keys::action_of(key)? {
        Action::Down => Some(top + 1),
        Action::Up => Some(top.saturating_sub(1)),
        Action::PageDown | Action::Mark => Some(top + 10),
        Action::PageUp => Some(top.saturating_sub(10)),
        _ => None,
    }
}
