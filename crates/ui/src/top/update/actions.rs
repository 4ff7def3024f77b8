//! Performs the action of a key.

use meanwhile::engine::StreamChoice;
use mw_desk::query::{Look, Query, Sort, States};

use super::load::load;
use super::take::say;
use super::tasks;
use crate::top::effect::{Effect, Lookup, MouseUse, Program};
use crate::top::keys::Action;
use crate::top::state::{Focus, Menu, MenuKind, Message, Mode, Pane, Prompt, Purpose, State, Zoom};

/// Columns by which a log is moved sideways.
const SIDESTEP: usize = 16;

pub(super) fn act(state: &mut State, action: Action, effects: &mut Vec<Effect>) {
    match action {
        Action::Up => move_by(state, -1),
        Action::Down => move_by(state, 1),
        Action::PageUp => move_by(state, -page(state)),
        Action::PageDown => move_by(state, page(state)),
        Action::First => move_by(state, -isize::MAX),
        Action::Last => move_by(state, isize::MAX),
        Action::Left => state.log.left = state.log.left.saturating_sub(SIDESTEP),
        Action::Right => state.log.left = (state.log.left + SIDESTEP).min(longest_line(state)),
        Action::Open => open(state),
        Action::Back => back(state, effects),
        Action::OtherPane => other_pane(state),
        Action::ShowLog => state.pane = Pane::Log,
        Action::ShowFacts => (state.pane, state.facts_top) = (Pane::Facts, 0),
        Action::ShowTimeline => state.pane = Pane::Timeline,
        Action::Find => find(state),
        Action::NextMatch => next_match(state, 1),
        Action::PreviousMatch => next_match(state, -1),
        Action::States => states(state),
        Action::Sessions => sessions(state, effects),
        Action::Batch => batch(state, effects),
        Action::Sort => next_sort(state, effects),
        Action::Reverse => reverse(state, effects),
        Action::Mark => match state.keys_go_to() {
            Focus::List => tasks::mark(state),
            // As in every pager.
            Focus::Detail => move_by(state, page(state)),
        },
        Action::Kill => tasks::kill(state),
        Action::Restart => tasks::restart(state, effects),
        Action::Clear => tasks::clear(state),
        Action::ClearEnded => tasks::clear_ended(state),
        Action::Input => tasks::input(state),
        Action::Attach => tasks::attach(state, effects),
        Action::Editor => tasks::open_log(state, Program::Editor, effects),
        Action::Pager => tasks::open_log(state, Program::Pager, effects),
        Action::CopyId => tasks::copy(state, |row| row.id.clone(), effects),
        Action::CopyPath => tasks::copy(state, |row| row.output_path.clone(), effects),
        Action::Answer => tasks::answer(state),
        Action::Follow => follow(state),
        Action::Streams => streams(state),
        Action::Wrap => (state.log.wraps, state.log.left) = (!state.log.wraps, 0),
        Action::Mouse => mouse(state, effects),
        Action::Help => state.mode = Mode::Help(0),
        Action::Said => state.mode = Mode::Said(0),
        Action::Redraw => effects.push(Effect::Redraw),
        Action::Suspend => effects.push(Effect::Suspend),
        Action::Close if state.zoom == Zoom::Detail => set_focus(state, Focus::List),
        Action::Close | Action::Quit => effects.push(Effect::Quit),
    }
}

fn other_pane(state: &mut State) {
    let other = match state.keys_go_to() {
        Focus::List => Focus::Detail,
        Focus::Detail => Focus::List,
    };
    set_focus(state, other);
}

fn follow(state: &mut State) {
    let (width, height) = state.detail_size();
    state.log.top = state.log.first(height, width);
    state.log.follows = !state.log.follows;
}

const fn streams(state: &mut State) {
    state.log.stream = match state.log.stream {
        StreamChoice::Both | StreamChoice::Apart => StreamChoice::Stdout,
        StreamChoice::Stdout => StreamChoice::Stderr,
        StreamChoice::Stderr => StreamChoice::Both,
    };
}

fn mouse(state: &mut State, effects: &mut Vec<Effect>) {
    state.mouse_is_ours = !state.mouse_is_ours;
    let (mouse, text) = if state.mouse_is_ours {
        (MouseUse::Ours, "the mouse selects rows and scrolls")
    } else {
        (MouseUse::Terminals, "the terminal has the mouse: select text; press m to take it back")
    };
    effects.push(Effect::Mouse(mouse));
    say(state, Message::Note(text.to_owned()));
}

fn states(state: &mut State) {
    let selected = super::modes::STATES.iter().position(|s| *s == state.list.query.states).unwrap_or(0);
    state.mode = Mode::Choosing(Menu { kind: MenuKind::States, selected });
}

fn sessions(state: &mut State, effects: &mut Vec<Effect>) {
    match &state.bound_to {
        Some(session) => {
            let text = format!("only tasks of session {session} are shown: MEANWHILE_SESSION is set");
            say(state, Message::Error(text));
        }
        None => effects.push(Effect::Find(Lookup::Sessions)),
    }
}

pub(super) fn set_focus(state: &mut State, focus: Focus) {
    (state.focus, state.zoom) = (focus, Zoom::Split);
    match focus {
        // A log that is being read keeps its position.
        Focus::Detail => state.list.hold(),
        Focus::List => {}
    }
    if state.list.away.is_some() {
        state.list.take_place();
    }
    let height = state.list_height();
    state.list.keep_in_sight(height);
}

fn page(state: &State) -> isize {
    let rows = match state.keys_go_to() {
        Focus::List => state.list_height(),
        Focus::Detail => state.detail_size().1,
    };
    rows.saturating_sub(1).max(1) as isize
}

fn move_by(state: &mut State, by: isize) {
    match state.keys_go_to() {
        Focus::List => move_selection(state, by),
        Focus::Detail => move_detail(state, by),
    }
}

pub(super) fn move_selection(state: &mut State, by: isize) {
    let height = state.list_height();
    let place = state.list.selected.saturating_add_signed(by);
    state.list.select(place, height);
    state.facts_top = 0;
}

pub(super) fn move_detail(state: &mut State, by: isize) {
    let (width, height) = state.detail_size();
    match state.pane {
        Pane::Log => state.log.scroll(by, height, width),
        Pane::Facts => {
            let lines = state.facts.as_ref().map_or(0, |(_, facts)| facts.len());
            state.facts_top = state.facts_top.saturating_add_signed(by).min(lines.saturating_sub(1));
        }
        // The timeline shows what the list shows.
        Pane::Timeline => move_selection(state, by),
    }
}

fn longest_line(state: &State) -> usize {
    state.log.lines.iter().map(|line| line.text.len()).max().unwrap_or(0)
}

fn open(state: &mut State) {
    match (state.zoom, state.list.selected_row()) {
        (Zoom::Detail, _) => set_focus(state, Focus::List),
        (Zoom::Split, Some(_)) => {
            (state.zoom, state.focus) = (Zoom::Detail, Focus::Detail);
            state.list.hold();
        }
        (Zoom::Split, None) => {}
    }
}

fn back(state: &mut State, effects: &mut Vec<Effect>) {
    let Query { sort, is_reversed, .. } = state.list.query;
    let bound = Query { session: state.bound_to.clone(), sort, is_reversed, ..Query::default() };
    if state.keys_go_to() == Focus::Detail && state.log.search.is_some() {
        state.log.search = None;
    } else if state.keys_go_to() == Focus::Detail {
        set_focus(state, Focus::List);
    } else if !state.marked.is_empty() {
        state.marked.clear();
    } else if state.list.query != bound {
        ask_for(state, bound, effects);
    }
}

/// Lists other tasks.
pub(super) fn ask_for(state: &mut State, query: Query, effects: &mut Vec<Effect>) {
    if state.list.query == query {
        return;
    }
    state.list.query = query;
    load(state, Look::Known, effects);
}

fn next_sort(state: &mut State, effects: &mut Vec<Effect>) {
    let at = Sort::ALL.iter().position(|sort| *sort == state.list.query.sort).unwrap_or(0);
    let sort = Sort::ALL[(at + 1) % Sort::ALL.len()];
    order_by(state, Query { sort, is_reversed: false, ..state.list.query.clone() }, effects);
}

fn reverse(state: &mut State, effects: &mut Vec<Effect>) {
    let query = match state.list.query.sort {
        // This order cannot be reversed; sorting by age is the nearest.
        Sort::State => Query { sort: Sort::Newest, is_reversed: true, ..state.list.query.clone() },
        _ => Query { is_reversed: !state.list.query.is_reversed, ..state.list.query.clone() },
    };
    order_by(state, query, effects);
}

/// Sorts by this; a second time reverses the order.
pub(super) fn sort_by(state: &mut State, sort: Sort, effects: &mut Vec<Effect>) {
    if state.list.query.sort == sort {
        reverse(state, effects);
    } else {
        order_by(state, Query { sort, is_reversed: false, ..state.list.query.clone() }, effects);
    }
}

fn order_by(state: &mut State, query: Query, effects: &mut Vec<Effect>) {
    ask_for(state, query, effects);
    let text = format!("sorted by {}; live tasks first; I reverses the order", state.list.query.order_word());
    say(state, Message::Note(text));
}

fn batch(state: &mut State, effects: &mut Vec<Effect>) {
    let of_selected = state.list.selected_row().and_then(|row| row.batch.clone());
    let batch = match (&state.list.query.batch, of_selected) {
        (Some(_), _) => None,
        (None, Some(batch)) => Some(batch),
        (None, None) => {
            say(state, Message::Error("the selected task has no batch".to_owned()));
            return;
        }
    };
    let query = Query { batch, ..state.list.query.clone() };
    ask_for(state, query, effects);
}

fn find(state: &mut State) {
    let searches = state.keys_go_to() == Focus::Detail && state.pane == Pane::Log;
    let (purpose, text) = if searches {
        (Purpose::Search, String::new())
    } else {
        let text = state.list.query.text.clone();
        (Purpose::Filter { before: text.clone() }, text)
    };
    state.mode = Mode::Typing(Prompt { purpose, cursor: text.len(), text });
}

fn next_match(state: &mut State, by: isize) {
    let (width, height) = state.detail_size();
    match &state.log.search {
        None => say(state, Message::Error("no search: press Tab to focus the log, then /".to_owned())),
        Some(search) if search.lines.is_empty() => {
            let text = format!("{:?} not found in the part of the log that was read", search.text);
            say(state, Message::Error(text));
        }
        Some(_) => state.log.next_match(by, height, width),
    }
}

/// Filters by state.
pub(super) fn choose_states(state: &mut State, states: States, effects: &mut Vec<Effect>) {
    let query = Query { states, ..state.list.query.clone() };
    ask_for(state, query, effects);
}

/// Filters by session; `None` shows all.
pub(super) fn choose_session(state: &mut State, session: Option<String>, effects: &mut Vec<Effect>) {
    let query = Query { session, ..state.list.query.clone() };
    ask_for(state, query, effects);
}
