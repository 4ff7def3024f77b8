//! Processes input: one match arm for each kind, and for each event of another thread.

use crossterm::event::{KeyCode, KeyModifiers};
use meanwhile::engine::SessionInfo;

use super::load::{load, refresh, settle};
use super::{actions, modes, mouse, tasks};
use crate::screen::Input;
use crate::top::effect::Effect;
use crate::top::event::Event;
use crate::top::keys;
use crate::top::list::Loading;
use crate::top::state::{Menu, MenuKind, Mode, State};

/// Processes input and returns the resulting effects.
///
/// A key applies to the task that is selected when it is pressed. If a pending reply decides which task that is, the
/// key waits for the reply.
pub(in crate::top) fn update(state: &mut State, input: Input<Event>) -> Vec<Effect> {
    if let Some(input) = wait_for_selection(state, input) {
        take(state, input);
        settle(state);
        while !state.list.awaits_selection()
            && let Some(input) = state.typed_ahead.pop_front()
        {
            take(state, input);
            settle(state);
        }
    }
    std::mem::take(&mut state.effects)
}

/// Queues keys that must wait for a pending reply. Returns all other input.
fn wait_for_selection(state: &mut State, input: Input<Event>) -> Option<Input<Event>> {
    /// The maximum number of queued keys. Only a repeating key exceeds it.
    const MAX_TYPED_AHEAD: usize = 1000;
    let is_ahead = match &input {
        Input::Key(key) if key.code == KeyCode::Char('c') && key.modifiers == KeyModifiers::CONTROL => {
            state.typed_ahead.clear();
            false
        }
        Input::Key(key) => {
            let awaits = state.mode == Mode::Normal && state.list.awaits_selection();
            awaits && keys::needs_selection(*key) || !state.typed_ahead.is_empty()
        }
        Input::Paste(_) => !state.typed_ahead.is_empty(),
        // A click applies to the visible screen, which the queued keys will change.
        Input::Mouse(_) if !state.typed_ahead.is_empty() => return None,
        _ => false,
    };
    if !is_ahead {
        return Some(input);
    }
    if state.typed_ahead.len() < MAX_TYPED_AHEAD {
        state.typed_ahead.push_back(input);
    }
    None
}

fn take(state: &mut State, input: Input<Event>) {
    match input {
        Input::Key(key) => {
            state.is_changed = true;
            modes::key(state, key);
        }
        Input::Paste(text) => {
            state.is_changed = true;
            modes::paste(state, &text);
        }
        Input::Mouse(event) => mouse::mouse(state, event),
        Input::Resized(width, height) => {
            state.is_changed = true;
            state.size = (width, height);
            if let Mode::Asking(asking) = &mut state.mode {
                asking.begin_again();
            }
        }
        Input::Tick => {
            let shown = state.list.top..state.list.top + state.list_height().max(1);
            // The ages of ended tasks have changed even if no task has.
            state.is_changed |= state.list.visible(state.list_height()).any(|row| !row.alive);
            refresh(state, Some(shown));
        }
        // The other program may have changed tasks.
        Input::Back(Ok(())) => refresh(state, None),
        Input::Back(Err(problem)) => state.fail(problem),
        Input::Event(event) => happened(state, event),
    }
}

fn happened(state: &mut State, event: Event) {
    match event {
        Event::TasksChanged => refresh(state, None),
        Event::WatchFailed(problem) => {
            if state.watch_error.as_ref() != Some(&problem) {
                state.fail(problem.clone());
                state.watch_error = Some(problem);
            }
        }
        Event::WatchStarted => {
            if state.watch_error.take().is_some() {
                state.is_changed = true;
                refresh(state, None);
            }
        }
        Event::Listed(window) => {
            let again = state.list.loading == Loading::Outdated;
            state.list.loading = Loading::Idle;
            if window.query == state.list.query {
                state.take_window(window);
            }
            if again {
                load(state, None);
            }
        }
        Event::ListFailed(problem) => {
            // The next change of a task repeats the request.
            (state.list.loading, state.list.is_known) = (Loading::Idle, true);
            state.keep_selected();
            let dropped = std::mem::take(&mut state.typed_ahead);
            let note = if dropped.is_empty() { "" } else { "; keys typed meanwhile were dropped" };
            state.fail(format!("{problem}{note}"));
        }
        Event::Facts(id, facts) => {
            let known = Some((id, facts));
            state.is_changed |= state.facts != known;
            state.facts = known;
        }
        Event::Lanes(lanes, now) => {
            state.is_changed |= state.lanes != lanes || lanes.iter().any(|lane| !lane.status.is_terminal());
            (state.lanes, state.now) = (lanes, now);
        }
        Event::Sessions(sessions) if state.mode == Mode::Normal => {
            let line = |session: SessionInfo| {
                let words = format!("{} live, {} total", session.live, session.tasks);
                (session.id, words)
            };
            let kind = MenuKind::Sessions(sessions.into_iter().map(line).collect());
            state.mode = Mode::Choosing(Menu { kind, selected: 0 });
            state.is_changed = true;
        }
        Event::Sessions(_) => {}
        Event::Asked(proposed) => {
            state.is_changed |= state.proposed != proposed;
            state.proposed = proposed;
            tasks::close_answered(state);
        }
        Event::Attachable(id) => tasks::attach_now(state, id),
        Event::Read(target, chunk) if state.log.target.as_ref() == Some(&target) => {
            state.log.append(&chunk);
            state.is_changed = true;
        }
        Event::ReadEarlier(target, chunk) if state.log.target.as_ref() == Some(&target) => {
            state.log.prepend(&chunk);
            state.is_changed = true;
        }
        Event::ReadLater(target, chunk) if state.log.target.as_ref() == Some(&target) => {
            state.log.extend(&chunk);
            state.is_changed = true;
        }
        Event::ReadStart(target, chunk) if state.log.target.as_ref() == Some(&target) => {
            state.log.jump(&chunk);
            state.is_changed = true;
        }
        Event::Searched(hunt, percent) => actions::searched(state, &hunt, percent),
        Event::Found(hunt, found) => actions::found(state, &hunt, found.as_ref()),
        Event::Unreadable(target, problem) if state.log.target.as_ref() == Some(&target) => {
            state.log.problem = Some(problem);
            state.is_changed = true;
        }
        // The log is no longer shown.
        Event::Read(..)
        | Event::ReadEarlier(..)
        | Event::ReadLater(..)
        | Event::ReadStart(..)
        | Event::Unreadable(..) => {}
        Event::Done(lines) => {
            state.note(lines.join("\n"));
            load(state, None);
        }
        Event::AnsweredElsewhere(text) => state.note(text),
        Event::Failed(problem) => state.fail(problem),
    }
}
