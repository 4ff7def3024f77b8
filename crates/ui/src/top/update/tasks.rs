//! Actions on tasks: on the marked ones, else on the selected one.

use mw_desk::action::TaskAction;
use mw_desk::rows::TaskRow;

use super::actions;
use crate::screen::{TerminalRequest, TextField};
use crate::top::effect::{Effect, Lookup, Program};
use crate::top::layout::Areas;
use crate::top::question::{Asking, Named, Question};
use crate::top::state::{Mode, Prompt, Purpose, State};

/// Marks or unmarks the selected task, and selects the next one.
pub(super) fn mark(state: &mut State) {
    let Some(Named { id, what }) = selected(state) else { return };
    if state.marked.remove(&id).is_none() {
        state.marked.insert(id, what);
    }
    actions::move_selection(state, 1);
}

/// Returns the selected task and holds the selection. Shows a message if there is none.
fn selected(state: &mut State) -> Option<Named> {
    state.list.hold();
    let found = state.list.selected_row().map(|row| Named { id: row.id.clone(), what: row.what.clone() });
    if found.is_none() {
        state.fail("no task is selected");
    }
    found
}

/// Returns the tasks that a key acts on: the marked ones while the list is visible, else the selected one.
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
        [task] if has_fully_ended(state, task) => {
            state.fail(format!("{} has ended; no processes left to kill", task.id));
        }
        tasks => ask(state, Question::Kill(tasks.to_vec())),
    }
}

pub(super) fn clear(state: &mut State) {
    match &*chosen(state) {
        [] => {}
        [task] if !has_fully_ended(state, task) => {
            state.fail(format!("{} is live and cannot be removed; press x to kill it", task.id));
        }
        tasks => ask(state, Question::Clear(tasks.to_vec())),
    }
}

pub(super) fn clear_ended(state: &mut State) {
    match state.list.total.saturating_sub(state.list.live) {
        0 => state.fail("no finished tasks in this list"),
        count => {
            let query = state.list.shown.clone();
            ask(state, Question::ClearEnded { count, query });
        }
    }
}

pub(super) fn restart(state: &mut State) {
    let tasks = chosen(state);
    match &*tasks {
        [] => {}
        [task] if has_fully_ended(state, task) => {
            state.marked.clear();
            state.note(format!("restarting {} …", task.id));
            state.effects.push(Effect::Do(TaskAction::Restart(vec![task.id.clone()])));
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
        None => state.note("no open approval requests"),
    }
}

/// Closes a request that was answered elsewhere, and looks up the answer.
pub(super) fn close_answered(state: &mut State) {
    if let Mode::Asking(asking) = &state.mode
        && let Question::Answer(shown) = &asking.question
        && state.proposed.iter().all(|open| open.id != shown.id)
    {
        state.find(Lookup::Outcome(shown.id.clone()));
        state.mode = Mode::Normal;
        state.is_changed = true;
    }
}

pub(super) fn input(state: &mut State) {
    let Some(Named { id, .. }) = selected(state) else { return };
    if is_over(state) {
        return state.fail(format!("{id} has ended and reads no input; press r to restart it"));
    }
    state.mode = Mode::Typing(Prompt { purpose: Purpose::Input { id }, field: TextField::default() });
}

pub(super) fn attach(state: &mut State) {
    let Some(Named { id, .. }) = selected(state) else { return };
    if is_over(state) {
        return state.fail(format!("{id} has ended; press e or p to open its log"));
    }
    state.find(Lookup::Attachable(id));
}

/// Attaches to a task, unless the user has selected another one meanwhile.
pub(super) fn attach_now(state: &mut State, id: String) {
    if state.mode == Mode::Normal && state.list.selected_id.as_ref() == Some(&id) {
        state.effects.push(Effect::Run(Program::Attach(id)));
    }
}

/// Returns whether the selected task has ended.
fn is_over(state: &State) -> bool {
    state.list.selected_row().is_some_and(|row| row.status.is_terminal())
}

/// Returns whether a task has ended and none of its processes are left.
fn has_fully_ended(state: &State, task: &Named) -> bool {
    state.list.row_of(&task.id).is_some_and(|row| row.status.is_terminal() && !row.alive)
}

pub(super) fn open_log(state: &mut State, program: impl FnOnce(String) -> Program) {
    state.list.hold();
    let row = state.list.selected_row().map(|row| (row.output_path.clone(), row.started_at));
    match row {
        Some((_, None)) => state.fail("it has not run, so it has no log"),
        Some((path, Some(_))) => state.effects.push(Effect::Run(program(path))),
        None => state.fail("no task is selected"),
    }
}

/// Copies a property of the selected task to the clipboard.
pub(super) fn copy(state: &mut State, what: impl FnOnce(&TaskRow) -> String) {
    match state.list.selected_row().map(what) {
        None => state.fail("no task is selected"),
        Some(text) => {
            state.note(format!("copied {text} (if the terminal supports it)"));
            state.request(TerminalRequest::Copy(text));
        }
    }
}
