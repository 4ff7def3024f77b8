//! Actions on tasks: on the marked ones, else on the selected one.

use mw_desk::action::TaskAction;
use mw_desk::rows::TaskRow;

use super::actions;
use super::take::say;
use crate::top::effect::{Effect, Lookup, Program};
use crate::top::layout::Areas;
use crate::top::question::{Asking, Named, Question};
use crate::top::state::{Message, Mode, Prompt, Purpose, State};

/// Marks the selected task, or no longer, and continues to the next.
pub(super) fn mark(state: &mut State) {
    let Some(Named { id, what }) = selected(state) else { return };
    if state.marked.remove(&id).is_none() {
        state.marked.insert(id, what);
    }
    actions::move_selection(state, 1);
}

/// Returns the selected task, which stays selected then; says so when there is none.
fn selected(state: &mut State) -> Option<Named> {
    state.list.hold();
    let found = state.list.selected_row().map(|row| Named { id: row.id.clone(), what: row.what.clone() });
    if found.is_none() {
        say(state, Message::Error("no task is selected".to_owned()));
    }
    found
}

/// Returns those that keys act on: the marked ones while the list is in sight, else the selected one.
fn chosen(state: &mut State) -> Vec<Named> {
    if state.marked.is_empty() || Areas::of(state).list.height == 0 {
        return selected(state).into_iter().collect();
    }
    let named = |(id, what): (&String, &String)| Named { id: id.clone(), what: what.clone() };
    state.marked.iter().map(named).collect()
}

fn ask(state: &mut State, question: Question) {
    state.mode = Mode::Asking(Asking::new(question));
}

pub(super) fn kill(state: &mut State) {
    match &*chosen(state) {
        [] => {}
        [task] if is_gone(state, task) => {
            let text = format!("{} has ended; no processes left to kill", task.id);
            say(state, Message::Error(text));
        }
        tasks => ask(state, Question::Kill(tasks.to_vec())),
    }
}

pub(super) fn clear(state: &mut State) {
    match &*chosen(state) {
        [] => {}
        [task] if !is_gone(state, task) => {
            say(
                state,
                Message::Error(format!("{} is live and cannot be removed; press x to kill it", task.id)),
            );
        }
        tasks => ask(state, Question::Clear(tasks.to_vec())),
    }
}

pub(super) fn clear_ended(state: &mut State) {
    match state.list.total.saturating_sub(state.list.live) {
        0 => say(state, Message::Error("no finished tasks in this list".to_owned())),
        count => {
            let query = state.list.shown.clone();
            ask(state, Question::ClearEnded { count, query });
        }
    }
}

pub(super) fn restart(state: &mut State, effects: &mut Vec<Effect>) {
    let tasks = chosen(state);
    match &*tasks {
        [] => {}
        [task] if is_gone(state, task) => {
            state.marked.clear();
            say(state, Message::Note(format!("restarting {} …", task.id)));
            effects.push(Effect::Do(TaskAction::Restart(vec![task.id.clone()])));
        }
        [first, ..] => {
            let row = state.list.row_of(&first.id).filter(|row| row.status.is_terminal());
            let survivors = row.map_or(0, |row| row.survivors);
            ask(state, Question::Restart { tasks, survivors });
        }
    }
}

pub(super) fn answer(state: &mut State) {
    match state.proposed.first().cloned() {
        Some(proposed) => ask(state, Question::Answer(proposed)),
        None => say(state, Message::Note("no open approval requests".to_owned())),
    }
}

/// Closes a request that was answered elsewhere, and asks how.
pub(super) fn close_answered(state: &mut State, effects: &mut Vec<Effect>) {
    if let Mode::Asking(asking) = &state.mode
        && let Question::Answer(shown) = &asking.question
        && state.proposed.iter().all(|open| open.id != shown.id)
    {
        effects.push(Effect::Find(Lookup::Outcome(shown.id.clone())));
        state.mode = Mode::Normal;
        state.is_changed = true;
    }
}

pub(super) fn input(state: &mut State) {
    let Some(Named { id, .. }) = selected(state) else { return };
    if is_over(state) {
        say(state, Message::Error(format!("{id} has ended and reads no input; press r to restart it")));
        return;
    }
    let purpose = Purpose::Input { id };
    state.mode = Mode::Typing(Prompt { purpose, text: String::new(), cursor: 0 });
}

pub(super) fn attach(state: &mut State, effects: &mut Vec<Effect>) {
    let Some(Named { id, .. }) = selected(state) else { return };
    if is_over(state) {
        say(state, Message::Error(format!("{id} has ended; press e or p to open its log")));
        return;
    }
    effects.push(Effect::Find(Lookup::Attachable(id)));
}

/// Attaches to a task that takes input, unless the user has moved on meanwhile.
pub(super) fn attach_now(state: &State, id: String, effects: &mut Vec<Effect>) {
    if state.mode == Mode::Normal && state.list.selected_id.as_ref() == Some(&id) {
        effects.push(Effect::Run(Program::Attach(id)));
    }
}

/// Returns whether the selected task has come to its end.
fn is_over(state: &State) -> bool {
    state.list.selected_row().is_some_and(|row| row.status.is_terminal())
}

/// Returns whether a task has ended without survivors.
fn is_gone(state: &State, task: &Named) -> bool {
    state.list.row_of(&task.id).is_some_and(|row| row.status.is_terminal() && !row.alive)
}

pub(super) fn open_log(
    state: &mut State,
    program: impl FnOnce(String) -> Program,
    effects: &mut Vec<Effect>,
) {
    state.list.hold();
    let row = state.list.selected_row().map(|row| (row.output_path.clone(), row.started_at));
    match row {
        Some((_, None)) => say(state, Message::Error("it has not run, so it has no log".to_owned())),
        Some((path, Some(_))) => effects.push(Effect::Run(program(path))),
        None => say(state, Message::Error("no task is selected".to_owned())),
    }
}

/// Has the terminal copy something of the selected task.
pub(super) fn copy(state: &mut State, what: impl FnOnce(&TaskRow) -> String, effects: &mut Vec<Effect>) {
    match state.list.selected_row().map(what) {
        None => say(state, Message::Error("no task is selected".to_owned())),
        Some(text) => {
            say(state, Message::Note(format!("copied {text} (if the terminal supports it)")));
            effects.push(Effect::Copy(text));
        }
    }
}
