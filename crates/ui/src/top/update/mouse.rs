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
                Some(index) => menu.selected = index,
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
        (Mode::Normal, MouseEventKind::Drag(MouseButton::Left)) if state.drags => drag(state, areas, at),
        (_, MouseEventKind::Up(_)) => {
            state.drags = false;
            return;
        }
        // Movement, other buttons and clicks next to an answer are ignored.
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

/// Returns whether a position is on the border between list and detail.
const fn is_on_border(areas: &Areas, at: Position) -> bool {
    if areas.side_by_side() {
        at.x + 1 == areas.detail.x && at.y >= areas.columns.y && at.y < areas.footer.y
    } else {
        areas.list.height > 0 && areas.title.height > 0 && at.y == areas.title.y
    }
}

/// Moves the border to the mouse.
fn drag(state: &mut State, areas: Areas, at: Position) {
    if areas.side_by_side() {
        state.split.columns += at.x as i16 - (areas.detail.x as i16 - 1);
    } else {
        state.split.rows += at.y as i16 - areas.title.y as i16;
    }
}

fn click(state: &mut State, areas: Areas, at: Position) {
    state.drags = is_on_border(&areas, at);
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
            let index = state.list.top + usize::from(at.y - areas.detail.y);
            let height = state.list_height();
            state.list.select(index, height);
        } else {
            state.focus = Focus::Detail;
            state.list.hold();
        }
    }
}

/// Selects a row. A click on the selected row opens it.
fn click_row(state: &mut State, areas: Areas, at: Position) {
    let index = state.list.top + usize::from(at.y - areas.list.y);
    let had_focus = state.keys_go_to() == Focus::List;
    if had_focus && index == state.list.selected {
        return actions::act(state, Action::Open);
    }
    if index < state.list.total {
        state.list.select(index, areas.list.height.into());
        state.facts_top = 0;
    }
    actions::set_focus(state, Focus::List);
}
