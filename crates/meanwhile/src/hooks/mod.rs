//! Commands of the user that run on events of tasks.
//!
//! Hooks run in a separate process (`mw settle`), one after the other, in the order of the events; no task and no command
//! waits for them. Each event is handled once: the position is advanced before the hook runs, so a hook never runs twice,
//! but is skipped if `mw settle` is killed. Use notifications where nothing may be missed.
//!
//! Hooks report work in the background. A command in the foreground has none, unless it moves to the background, which then
//! counts as its start. Hooks name a task in the dialect it was started through. A task that was started while no hooks were
//! configured has none.
//!
//! `events` finds the hooks for new events, and `run` runs one of them.

mod events;
mod run;

use crate::base::part;

part! {
    /// Runs the user's hooks.
    pub struct Hooks;
}
