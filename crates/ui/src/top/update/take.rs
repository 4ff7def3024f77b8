//! Processes an event: one match arm for each.

use crossterm::event::{KeyCode, KeyModifiers};
use mw_desk::query::Look;

use super::load::{load, refresh, settle};
use super::{modes, mouse, tasks};
use crate::top::effect::Effect;
use crate::top::event::Event;
use crate::top::keys;
use crate::top::list::Loading;
use crate::top::state::{Menu, MenuKind, Message, Mode, State};

/// Processes an event and returns the resulting effects.
///
/// A key means the task that is selected when it is pressed. While a reply is on its way that decides which one that
/// is, keys wait for it.
pub fn update(state: &mut State, event: Event) -> Vec<Effect> {
    let mut effects = Vec::new();
    let Some(event) = wait_for_selection(state, event) else { return effects };
    take(state, event, &mut effects);
    settle(state, &mut effects);
    while !state.list.awaits_selection()
        && let Some(event) = state.typed_ahead.pop_front()
    {
        take(state, event, &mut effects);
        settle(state, &mut effects);
    }
    effects
}

/// Keeps what was typed too early, and returns everything else.
fn wait_for_selection(state: &mut State, event: Event) -> Option<Event> {
    /// Maximum number of keys that wait for a reply. Only a repeating key exceeds it.
    const MOST: usize = 1000;
    let is_ahead = match &event {
        Event::Key(key) if key.code == KeyCode::Char('c') && key.modifiers == KeyModifiers::CONTROL => {
            state.typed_ahead.clear();
            false
        }
        Event::Key(key) => {
            let needs_selection = keys::action_of(*key).is_some_and(keys::Action::needs_selection);
            let waits = state.mode == Mode::Normal && state.list.awaits_selection() && needs_selection;
            waits || !state.typed_ahead.is_empty()
        }
        Event::Paste(_) => !state.typed_ahead.is_empty(),
        // A click means what is on screen, but not what the keys before it will change.
        Event::Mouse(_) if !state.typed_ahead.is_empty() => return None,
        _ => false,
    };
    if !is_ahead {
        return Some(event);
    }
    if state.typed_ahead.len() < MOST {
        state.typed_ahead.push_back(event);
    }
    None
}

/// Forgets what was typed ahead of a reply that did not come, and says so.
fn forget_typed_ahead(state: &mut State, problem: String) -> String {
    let count = std::mem::take(&mut state.typed_ahead).len();
    if count == 0 { problem } else { format!("{problem}; keys typed meanwhile were dropped") }
}

fn take(state: &mut State, event: Event, effects: &mut Vec<Effect>) {
    match event {
        Event::Key(key) => {
            state.is_changed = true;
            modes::key(state, key, effects);
        }
        Event::Paste(text) => {
            state.is_changed = true;
            modes::paste(state, &text, effects);
        }
        Event::Mouse(event) => mouse::mouse(state, event, effects),
        Event::Resized(width, height) => {
            state.is_changed = true;
            state.size = (width, height);
            if let Mode::Asking(asking) = &mut state.mode {
                asking.begin_again();
            }
            let height = state.list_height();
            state.list.keep_in_sight(height);
        }
        Event::Tick => {
            let shown = state.list.top..state.list.top + state.list_height().max(1);
            refresh(state, Look::Fresh(shown), effects);
        }
        Event::News => refresh(state, Look::Known, effects),
        Event::Deaf(problem) => {
            if state.deaf.as_ref() != Some(&problem) {
                say(state, Message::Error(problem.clone()));
                state.deaf = Some(problem);
            }
        }
        Event::Hearing => {
            if state.deaf.take().is_some() {
                state.is_changed = true;
                refresh(state, Look::Known, effects);
            }
        }
        Event::Listed(window) => {
            let again = state.list.loading == Loading::Outdated;
            state.list.loading = Loading::Idle;
            if window.query == state.list.query {
                state.take_window(window);
            }
            if again {
                load(state, Look::Known, effects);
            }
        }
        Event::Unlisted(problem) => {
            // Asked again when something happens.
            (state.list.loading, state.list.is_known) = (Loading::Idle, true);
            state.keep_selected();
            let problem = forget_typed_ahead(state, problem);
            say(state, Message::Error(problem));
        }
        Event::Known(id, facts) => {
            let known = Some((id, facts));
            state.is_changed |= state.facts != known;
            state.facts = known;
        }
        Event::Lanes(lanes, now) => {
            state.is_changed |= state.lanes != lanes || lanes.iter().any(|lane| !lane.status.is_terminal());
            (state.lanes, state.now) = (lanes, now);
        }
        Event::SessionsKnown(sessions) => {
            let line = |session: meanwhile::engine::SessionInfo| {
                let words = format!("{} live, {} total", session.live, session.tasks);
                (session.id, words)
            };
            let kind = MenuKind::Sessions(sessions.into_iter().map(line).collect());
            if state.mode == Mode::Normal {
                state.mode = Mode::Choosing(Menu { kind, selected: 0 });
                state.is_changed = true;
            }
        }
        Event::Asked(proposed) => {
            state.is_changed |= state.proposed != proposed;
            state.proposed = proposed;
            tasks::close_answered(state, effects);
        }
        Event::Attachable(id) => tasks::attach_now(state, id, effects),
        Event::Told(text) => say(state, Message::Note(text)),
        Event::Read(target, chunk) => {
            if state.log.target.as_ref() == Some(&target) {
                state.log.append(&chunk);
                state.is_changed = true;
            }
        }
        Event::ReadEarlier(target, chunk) => {
            if state.log.target.as_ref() == Some(&target) {
                state.log.prepend(&chunk);
                state.is_changed = true;
            }
        }
        Event::Unreadable(target, problem) => {
            if state.log.target.as_ref() == Some(&target) {
                state.log.problem = Some(problem);
                state.is_changed = true;
            }
        }
        Event::Done(lines) => {
            say(state, Message::Note(lines.join("\n")));
            load(state, Look::Known, effects);
        }
        Event::Failed(problem) => say(state, Message::Error(problem)),
    }
}

pub(super) fn say(state: &mut State, message: Message) {
    /// Nobody looks for more.
    const MOST: usize = 100;
    state.said.truncate(MOST - 1);
    state.said.push_front(message.clone());
    state.message = Some(message);
    state.is_changed = true;
}
