//! Notifies owners of what happened, exactly once.
//!
//! A `host` receives the notifications of its session. `ledger` tracks their delivery, `notice` builds their text, and
//! `delivery` closes those that have arrived. `owner` records what an owner learned by itself, `told` shows what it
//! knows, and `starters` decides which of several servers delivers. `background` moves a command to the background,
//! `subscription` streams events, `hooks` finds the user's commands for an event, and `hook_run` runs one of them.

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
    /// Notifies owners of what happened, exactly once.
    Notifications
}
