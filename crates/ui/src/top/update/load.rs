//! Requests the data that should be on screen but is not loaded yet.

use mw_desk::log_window::LogTarget;
use mw_desk::query::{Look, Stretch};

use crate::top::effect::{Effect, Lookup};
use crate::top::layout::Areas;
use crate::top::list::Loading;
use crate::top::state::{Pane, State};

/// Fewer rows are not worth a question to the database.
const FEWEST: usize = 30;

/// Asks for what may have changed.
pub(super) fn refresh(state: &mut State, look: Look, effects: &mut Vec<Effect>) {
    load(state, look, effects);
    state.facts_asked = None;
    state.lanes_asked.clear();
}

/// Asks for the rows on screen and those around it; one question at a time.
pub(super) fn load(state: &mut State, look: Look, effects: &mut Vec<Effect>) {
    state.list.loading = match state.list.loading {
        Loading::Idle => {
            let (start, count) = around_screen(state);
            state.list.asked = (start, count);
            let keep = state.list.held();
            effects.push(Effect::Find(Lookup::List(
                state.list.query.clone(),
                Stretch { start, count, keep, look },
            )));
            Loading::Awaited
        }
        Loading::Awaited | Loading::Outdated => Loading::Outdated,
    };
}

/// Returns first row and number of rows of the stretch around the screen.
fn around_screen(state: &State) -> (usize, usize) {
    let height = state.list_height();
    let count = (3 * height).max(FEWEST);
    let top = match (state.list.shown == state.list.query, height) {
        (false, _) => 0,
        (true, 0) => state.list.selected,
        (true, _) => state.list.top,
    };
    (top.saturating_sub(count / 3), count)
}

/// Asks for whatever should be on screen and is not there.
pub(super) fn settle(state: &mut State, effects: &mut Vec<Effect>) {
    let areas = Areas::of(state);
    let height = state.list_height();
    // Another pane may leave it fewer rows.
    state.list.keep_in_sight(height);
    let first = if height == 0 { state.list.selected } else { state.list.top };
    let last = (first + height.max(1)).min(state.list.total).saturating_sub(1);
    let is_loaded = |place| state.list.row(place).is_some();
    let lacks_rows = state.list.total > 0 && !(is_loaded(first) && is_loaded(last));
    if !state.list.is_known && state.list.loading == Loading::Idle {
        load(state, Look::Fresh(0..height), effects);
    } else if lacks_rows && state.list.loading == Loading::Idle && state.list.asked != around_screen(state) {
        // What the same question has not brought, it will not bring now.
        load(state, Look::Known, effects);
    }

    let shows = |pane: Pane| areas.detail.height > 0 && state.pane == pane;
    let selected = state.list.selected_row();
    if shows(Pane::Facts)
        && let Some(row) = selected
        && state.facts_asked.as_ref() != Some(&row.id)
    {
        effects.push(Effect::Find(Lookup::Facts(row.id.clone())));
        state.facts_asked = Some(row.id.clone());
    } else if shows(Pane::Timeline) {
        let ids: Vec<_> =
            state.list.visible(height.max(areas.detail.height.into())).map(|row| row.id.clone()).collect();
        if state.lanes_asked != ids {
            effects.push(Effect::Find(Lookup::Runs(ids.clone())));
            state.lanes_asked = ids;
        }
    }
    settle_log(state, shows(Pane::Log), effects);
}

fn settle_log(state: &mut State, is_shown: bool, effects: &mut Vec<Effect>) {
    let wanted = match (is_shown, state.list.selected_row()) {
        (true, Some(row)) => Some(LogTarget { id: row.id.clone(), run: row.run, stream: state.log.stream }),
        // It is on its way: what is shown may stay so long.
        (true, None) if state.list.total > 0 => return,
        (true, None) | (false, _) => None,
    };
    // Whoever comes back to the end of a log that went on meanwhile reads it anew.
    let is_behind = state.log.follows && state.log.is_withheld;
    if state.log.target != wanted || is_behind {
        state.log.turn_to(wanted.clone());
        state.is_changed = true;
        effects.push(Effect::Follow(wanted));
        return;
    }
    let (width, height) = state.detail_size();
    let log = &mut state.log;
    let near_top = log.is_read && !log.follows && log.first(height, width).line < height;
    if let Some(target) = &log.target
        && near_top
        && log.has_earlier
        && !log.awaits_earlier
    {
        effects.push(Effect::Find(Lookup::LogBefore(target.clone(), log.offset)));
        log.awaits_earlier = true;
    }
}
