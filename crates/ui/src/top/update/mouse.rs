//! Handles clicks and the mouse wheel.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::Position;

use super::{actions, modes};
use crate::top::keys::Action;
use crate::top::layout::Areas;
use crate::top::state::{Focus, Mode, Pane, State};
use crate::top::view;

/// The number of lines per step of the wheel.
const NOTCH: isize = 3;

pub(super) fn mouse(state: &mut State, event: MouseEvent) {
    let areas = Areas::of(state);
    let at = Position::new(event.column, event.row);
    match (&mut state.mode, event.kind) {
        _ if areas.is_too_small() => return,
        (Mode::Asking(asking), MouseEventKind::ScrollDown) => asking.scroll(NOTCH, state.size),
        (Mode::Asking(asking), MouseEventKind::ScrollUp) => asking.scroll(-NOTCH, state.size),
        (Mode::Asking(asking), MouseEventKind::Down(MouseButton::Left)) => {
            let asking = asking.clone();
            match view::answer_at(state, &asking, at) {
                Some(code) => press(state, code),
                None => return,
            }
        }
        (Mode::Choosing(_), MouseEventKind::ScrollDown) => press(state, KeyCode::Down),
        (Mode::Choosing(_), MouseEventKind::ScrollUp) => press(state, KeyCode::Up),
        (Mode::Choosing(menu), MouseEventKind::Down(MouseButton::Left)) => {
            match view::choice_at(state.size, menu, at) {
                Some(place) => menu.selected = place,
                None => return,
            }
            press(state, KeyCode::Enter);
        }
        (Mode::Help(top) | Mode::Said(top), MouseEventKind::ScrollDown) => *top += NOTCH as usize,
        (Mode::Help(top) | Mode::Said(top), MouseEventKind::ScrollUp) => {
            *top = top.saturating_sub(NOTCH as usize);
        }
        (Mode::Help(_) | Mode::Said(_), MouseEventKind::Down(_)) => state.mode = Mode::Normal,
        (Mode::Normal, MouseEventKind::ScrollDown) => scroll(state, areas, at, NOTCH),
        (Mode::Normal, MouseEventKind::ScrollUp) => scroll(state, areas, at, -NOTCH),
        (Mode::Normal, MouseEventKind::Down(MouseButton::Left)) => click(state, areas, at),
        // Movement, other buttons and clicks beside an answer are ignored.
        _ => return,
    }
    state.is_changed = true;
}

/// Performs a click on a key's label as that key.
fn press(state: &mut State, code: KeyCode) {
    modes::key(state, KeyEvent::new(code, KeyModifiers::NONE));
}

fn scroll(state: &mut State, areas: Areas, at: Position, by: isize) {
    if areas.detail.contains(at) || areas.title.contains(at) {
        actions::move_detail(state, by);
    } else {
        actions::move_selection(state, by);
    }
}

fn click(state: &mut State, areas: Areas, at: Position) {
    let hint = areas.footer.contains(at).then(|| view::hint_at(state, areas.footer, at.x)).flatten();
    state.message = None;
    if let Some(action) = hint {
        actions::act(state, action);
    } else if areas.list.contains(at) {
        click_row(state, areas, at);
    } else if areas.columns.contains(at) {
        if let Some(sort) = view::sort_at(state, at.x - areas.columns.x) {
            actions::sort_by(state, sort);
        }
    } else if areas.title.contains(at) {
        if let Some(pane) = view::pane_at(at.x - areas.title.x) {
            state.pane = pane;
        }
    } else if areas.detail.contains(at) {
        if state.pane == Pane::Timeline {
            let place = state.list.top + usize::from(at.y - areas.detail.y);
            let height = state.list_height();
            state.list.select(place, height);
        } else {
            state.focus = Focus::Detail;
            state.list.hold();
        }
    }
}

/// Selects a row. A click on the selected row opens it.
fn click_row(state: &mut State, areas: Areas, at: Position) {
    let place = state.list.top + usize::from(at.y - areas.list.y);
    let had_focus = state.keys_go_to() == Focus::List;
    if had_focus && place == state.list.selected {
        return actions::act(state, Action::Open);
    }
    if place < state.list.total {
        state.list.select(place, areas.list.height.into());
        state.facts_top = 0;
    }
    actions::set_focus(state, Focus::List);
}
