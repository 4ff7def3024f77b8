//! Performs the action of a key.

use meanwhile::engine::StreamChoice;
use mw_desk::log_window::LogChunk;
use mw_desk::query::{Query, Sort};

use super::load::load;
use super::tasks;
use crate::screen::{MouseUse, TerminalRequest, TextField};
use crate::top::effect::{Direction, Effect, Hunt, Lookup, Program};
use crate::top::keys::Action;
use crate::top::layout::Areas;
use crate::top::state::{Focus, Menu, MenuKind, Message, Mode, Pane, Prompt, Purpose, State, Zoom};

/// The number of columns by which a log scrolls sideways.
const SIDESTEP: usize = 16;

pub(super) fn act(state: &mut State, action: Action) {
    match action {
        Action::Up => move_by(state, -1),
        Action::Down => move_by(state, 1),
        Action::PageUp => move_by(state, -page(state)),
        Action::PageDown => move_by(state, page(state)),
        Action::First => first(state),
        Action::Last => move_by(state, isize::MAX),
        Action::Left => state.log.left = state.log.left.saturating_sub(SIDESTEP),
        Action::Right => state.log.left = (state.log.left + SIDESTEP).min(longest_line(state)),
        Action::Open => open(state),
        Action::Back => back(state),
        Action::Grow => move_split(state, 1),
        Action::Shrink => move_split(state, -1),
        Action::OtherPane => match state.keys_go_to() {
            Focus::List => set_focus(state, Focus::Detail),
            Focus::Detail => set_focus(state, Focus::List),
        },
        Action::ShowLog => state.pane = Pane::Log,
        Action::ShowFacts => (state.pane, state.facts_top) = (Pane::Facts, 0),
        Action::ShowTimeline => state.pane = Pane::Timeline,
        Action::Find => find(state),
        Action::NextMatch => next_match(state, 1),
        Action::PreviousMatch => next_match(state, -1),
        Action::States => states(state),
        Action::Sessions => sessions(state),
        Action::Batch => batch(state),
        Action::Sort => next_sort(state),
        Action::Reverse => reverse(state),
        Action::Mark => match state.keys_go_to() {
            Focus::List => tasks::mark(state),
            // The space bar scrolls by a page, as in a pager.
            Focus::Detail => move_by(state, page(state)),
        },
        Action::Kill => tasks::kill(state),
        Action::Restart => tasks::restart(state),
        Action::Clear => tasks::clear(state),
        Action::ClearEnded => tasks::clear_ended(state),
        Action::Input => tasks::input(state),
        Action::Attach => tasks::attach(state),
        Action::Editor => tasks::open_log(state, Program::Editor),
        Action::Pager => tasks::open_log(state, Program::Pager),
        Action::CopyId => tasks::copy(state, |row| row.id.clone()),
        Action::CopyPath => tasks::copy(state, |row| row.output_path.clone()),
        Action::Answer => tasks::answer(state),
        Action::Follow => follow(state),
        Action::Streams => streams(state),
        Action::Wrap => (state.log.wraps, state.log.left) = (!state.log.wraps, 0),
        Action::Mouse => mouse(state),
        Action::Help => state.mode = Mode::Help(0),
        Action::Said => state.mode = Mode::Said(0),
        Action::Redraw => state.request(TerminalRequest::Redraw),
        Action::Suspend => state.request(TerminalRequest::Suspend),
        Action::Close if state.zoom == Zoom::Detail => set_focus(state, Focus::List),
        Action::Close | Action::Quit => state.request(TerminalRequest::Quit),
    }
}

/// Selects the first row, or shows the beginning of the log.
fn first(state: &mut State) {
    let is_log = state.keys_go_to() == Focus::Detail && state.pane == Pane::Log;
    move_by(state, -isize::MAX);
    if is_log
        && (state.log.has_earlier || state.log.is_cut)
        && !state.log.awaits_earlier
        && let Some(target) = state.log.target.clone()
    {
        state.log.awaits_earlier = true;
        state.find(Lookup::LogStart(target));
    }
}

/// Moves the border between list and detail by a step.
fn move_split(state: &mut State, by: i16) {
    const COLUMNS: i16 = 8;
    const ROWS: i16 = 2;
    let before = Areas::of(state);
    let split = state.split;
    if before.side_by_side() {
        state.split.columns += by * COLUMNS;
    } else {
        state.split.rows += by * ROWS;
    }
    if Areas::of(state) == before {
        // The border is at its limit, or only one part is shown.
        state.split = split;
    }
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

fn mouse(state: &mut State) {
    state.mouse_is_ours = !state.mouse_is_ours;
    let (mouse, text) = if state.mouse_is_ours {
        (MouseUse::Captured, "mouse captured: it selects rows and scrolls")
    } else {
        (MouseUse::Released, "mouse released to the terminal, so you can select text; m captures it again")
    };
    state.request(TerminalRequest::Mouse(mouse));
    state.note(text);
}

fn states(state: &mut State) {
    let selected = super::modes::STATES.iter().position(|s| *s == state.list.query.states).unwrap_or(0);
    state.mode = Mode::Choosing(Menu { kind: MenuKind::States, selected });
}

fn sessions(state: &mut State) {
    match &state.bound_to {
        Some(session) => {
            state.fail(format!("only tasks of session {session} are shown: MEANWHILE_SESSION is set"));
        }
        None => state.find(Lookup::Sessions),
    }
}

pub(super) fn set_focus(state: &mut State, focus: Focus) {
    (state.focus, state.zoom) = (focus, Zoom::Split);
    if focus == Focus::Detail {
        // A log that is being read keeps its position.
        state.list.hold();
    }
    if state.list.away.is_some() {
        state.list.take_place();
    }
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
    let index = state.list.selected.saturating_add_signed(by);
    state.list.select(index, height);
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
        // The timeline shows the rows of the list.
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

fn back(state: &mut State) {
    let Query { sort, is_reversed, .. } = state.list.query;
    let bound = Query { session: state.bound_to.clone(), sort, is_reversed, ..Query::default() };
    if state.keys_go_to() == Focus::Detail && state.log.search.is_some() {
        state.log.search = None;
        state.effects.push(Effect::EndSearch);
    } else if state.keys_go_to() == Focus::Detail {
        set_focus(state, Focus::List);
    } else if !state.marked.is_empty() {
        state.marked.clear();
    } else if state.list.query != bound {
        ask_for(state, bound);
    }
}

/// Changes the query of the list.
pub(super) fn ask_for(state: &mut State, query: Query) {
    if state.list.query == query {
        return;
    }
    state.list.query = query;
    load(state, None);
}

fn next_sort(state: &mut State) {
    let at = Sort::ALL.iter().position(|sort| *sort == state.list.query.sort).unwrap_or(0);
    order_by(state, Sort::ALL[(at + 1) % Sort::ALL.len()], false);
}

fn reverse(state: &mut State) {
    match state.list.query.sort {
        // The order by state cannot be reversed. Sorting by age is the nearest.
        Sort::State => order_by(state, Sort::Newest, true),
        sort => order_by(state, sort, !state.list.query.is_reversed),
    }
}

/// Sorts by a column. Sorting by the same column again reverses the order.
pub(super) fn sort_by(state: &mut State, sort: Sort) {
    if state.list.query.sort == sort { reverse(state) } else { order_by(state, sort, false) }
}

fn order_by(state: &mut State, sort: Sort, is_reversed: bool) {
    ask_for(state, Query { sort, is_reversed, ..state.list.query.clone() });
    let order = state.list.query.order_word();
    state.note(format!("sorted by {order}; live tasks first; I reverses the order"));
}

fn batch(state: &mut State) {
    let of_selected = state.list.selected_row().and_then(|row| row.batch.clone());
    let batch = match (&state.list.query.batch, of_selected) {
        (Some(_), _) => None,
        (None, Some(batch)) => Some(batch),
        (None, None) => {
            return state.fail("the selected task has no batch");
        }
    };
    ask_for(state, Query { batch, ..state.list.query.clone() });
}

fn find(state: &mut State) {
    let searches = state.keys_go_to() == Focus::Detail && state.pane == Pane::Log;
    let (purpose, text) = if searches {
        (Purpose::Search, String::new())
    } else {
        let text = state.list.query.text.clone();
        (Purpose::Filter { before: text.clone() }, text)
    };
    state.mode = Mode::Typing(Prompt { purpose, field: TextField::new(&text) });
}

fn next_match(state: &mut State, by: isize) {
    let (width, height) = state.detail_size();
    let Some(search) = &state.log.search else {
        return state.fail("no search: press Tab to focus the log, then /");
    };
    let is_last = match by {
        ..0 => search.current == 0,
        0.. => search.current + 1 >= search.lines.len(),
    };
    if search.lines.is_empty() || (is_last && state.log.has_more()) {
        return hunt(state, if by < 0 { Direction::Backward } else { Direction::Forward });
    }
    state.log.next_match(by, height, width);
}

/// Searches the parts of the log that are not loaded.
pub(super) fn hunt(state: &mut State, direction: Direction) {
    let log = &state.log;
    let (Some(search), Some(target)) = (&log.search, &log.target) else { return };
    if !log.has_more() {
        let text = format!("{:?} not found", search.text);
        return state.fail(text);
    }
    // A part that was cut is not continuous, so everything is searched again.
    let loaded = if log.is_cut { (log.end, log.end) } else { (log.offset, log.next.unwrap_or(log.end)) };
    let hunt = Hunt { target: target.clone(), text: search.text.clone(), direction, loaded };
    state.effects.push(Effect::Search(hunt));
}

/// Returns whether a search is still wanted.
fn is_wanted(state: &State, hunt: &Hunt) -> bool {
    state.log.target.as_ref() == Some(&hunt.target)
        && state.log.search.as_ref().is_some_and(|search| search.text == hunt.text)
}

/// Shows how far a search is.
pub(super) fn searched(state: &mut State, hunt: &Hunt, percent: u64) {
    if is_wanted(state, hunt) {
        state.message =
            Some(Message::Note(format!("searching {:?}: {percent} % of the log; Esc ends it", hunt.text)));
        state.is_changed = true;
    }
}

/// Shows the part of the log in which a search has found its text.
pub(super) fn found(state: &mut State, hunt: &Hunt, chunk: Option<&LogChunk>) {
    if !is_wanted(state, hunt) {
        return;
    }
    state.message = None;
    state.is_changed = true;
    let (width, height) = state.detail_size();
    match (chunk, state.log.search.as_ref().is_some_and(|search| search.lines.is_empty())) {
        (Some(chunk), _) => {
            state.log.jump(chunk);
            state.log.turn_to_match(hunt.direction, height, width);
        }
        (None, true) => state.fail(format!("{:?} not found in the whole log", hunt.text)),
        // The loaded part has the only matches.
        (None, false) => {
            state.log.next_match(if hunt.direction == Direction::Forward { 1 } else { -1 }, height, width);
        }
    }
}

/// Searches the rest of the log, if the loaded part has no match.
pub(super) fn search_on(state: &mut State) {
    if state.log.search.as_ref().is_some_and(|search| search.lines.is_empty()) {
        hunt(state, Direction::Backward);
    }
}
