//! Telling owners what happened, exactly once.
//!
//! A `host` is handed the notifications of its session. `ledger` says how far each has come, `notice` what it says, and
//! `delivery` closes it once it has arrived. `owner` notes what an owner learns by itself, `told` shows what it knows, and
//! `starters` decides which of several servers tells. `background` moves a command to the background, `subscription`
//! streams events, `hooks` finds the user's commands for an event, and
//! `hook_run` runs one.

pub(crate) mod background;
pub(crate) mod delivery;
pub(crate) mod hook_run;
pub(crate) mod hooks;
pub(crate) mod host;
pub(crate) mod ledger;
mod notice;
mod owner;
pub(crate) mod starters;
pub(crate) mod subscription;
pub(crate) mod told;

use crate::base::part;

part! {
    /// Runs the user's hooks.
    Hooks
}

part! {
    /// Tells owners what happened, exactly once.
    Notifications
}
