//! Requests the data that should be on screen but is not loaded yet.

use std::ops::Range;

use mw_desk::log_window::LogTarget;
use mw_desk::query::RowRange;

use crate::top::effect::{Effect, Lookup};
use crate::top::layout::Areas;
use crate::top::list::Loading;
use crate::top::state::{Pane, State};

/// The minimum number of rows of a request.
const MIN_REQUESTED_ROWS: usize = 30;

/// Requests everything that may have changed.
pub(super) fn refresh(state: &mut State, measure: Option<Range<usize>>) {
    load(state, measure);
    state.facts_asked = None;
    state.lanes_asked.clear();
}

/// Requests the rows on screen and those around them. Only one request is pending at a time.
pub(super) fn load(state: &mut State, measure: Option<Range<usize>>) {
    state.list.loading = match state.list.loading {
        Loading::Idle => {
            let (start, count) = around_screen(state);
            state.list.asked = (start, count);
            let range = RowRange { start, count, keep: state.list.held(), measure };
            state.find(Lookup::List(state.list.query.clone(), range));
            Loading::Awaited
        }
        Loading::Awaited | Loading::Outdated => Loading::Outdated,
    };
}

/// Returns the first row and the number of rows around the screen.
fn around_screen(state: &State) -> (usize, usize) {
    let height = state.list_height();
    let count = (3 * height).max(MIN_REQUESTED_ROWS);
    let top = match (state.list.shown == state.list.query, height) {
        (false, _) => 0,
        (true, 0) => state.list.selected,
        (true, _) => state.list.top,
    };
    (top.saturating_sub(count / 3), count)
}

/// Requests everything that should be on screen but is not loaded.
pub(super) fn settle(state: &mut State) {
    let areas = Areas::of(state);
    let height = state.list_height();
    // The list may have fewer rows on screen after another pane was opened.
    state.list.keep_in_sight(height);
    let first = if height == 0 { state.list.selected } else { state.list.top };
    let last = (first + height.max(1)).min(state.list.total).saturating_sub(1);
    let is_loaded = |index| state.list.row(index).is_some();
    let lacks_rows = state.list.total > 0 && !(is_loaded(first) && is_loaded(last));
    if !state.list.is_known && state.list.loading == Loading::Idle {
        load(state, Some(0..height));
    } else if lacks_rows && state.list.loading == Loading::Idle && state.list.asked != around_screen(state) {
        // A request that was answered is not repeated, because the reply would be the same.
        load(state, None);
    }

    let shows = |pane: Pane| areas.detail.height > 0 && state.pane == pane;
    let shows_log = shows(Pane::Log);
    if shows(Pane::Facts)
        && let Some(id) = state.list.selected_row().map(|row| row.id.clone())
        && state.facts_asked.as_ref() != Some(&id)
    {
        state.find(Lookup::Facts(id.clone()));
        state.facts_asked = Some(id);
    } else if shows(Pane::Timeline) {
        let ids: Vec<_> =
            state.list.visible(height.max(areas.detail.height.into())).map(|row| row.id.clone()).collect();
        if state.lanes_asked != ids {
            state.find(Lookup::Runs(ids.clone()));
            state.lanes_asked = ids;
        }
    }
    settle_log(state, shows_log);
}

fn settle_log(state: &mut State, is_shown: bool) {
    let wanted = match (is_shown, state.list.selected_row()) {
        (true, Some(row)) => Some(LogTarget { id: row.id.clone(), run: row.run, stream: state.log.stream }),
        // The row is being loaded. The current log stays on screen until then.
        (true, None) if state.list.total > 0 => return,
        (true, None) | (false, _) => None,
    };
    // If the end is shown again and later output was dropped, the log is read again.
    let is_behind = state.log.follows && state.log.is_withheld;
    if state.log.target != wanted || is_behind {
        state.log.turn_to(wanted.clone());
        state.is_changed = true;
        state.effects.push(Effect::Follow(wanted));
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
        log.awaits_earlier = true;
        let lookup = Lookup::LogBefore(target.clone(), log.offset);
        state.find(lookup);
    }
    let log = &mut state.log;
    let last = log.lines.len();
    if let Some(target) = &log.target
        && !log.follows
        && log.first(height, width).line + 2 * height >= last
        && let Some(next) = log.next
        && log.has_later()
        && !log.awaits_later
    {
        log.awaits_later = true;
        let lookup = Lookup::LogAfter(target.clone(), next);
        state.find(lookup);
    }
}
