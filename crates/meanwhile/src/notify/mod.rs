//! Telling owners what happened, exactly once.
//!
//! `notices` hands out notifications, and `delivery` closes them once they have arrived. `told` tells a call what happened
//! to the tasks that it waits for, `subscription` streams events, `hooks` runs the user's commands, and `summary` reads
//! the outcome of a run from its output.

pub(crate) mod background;
pub(crate) mod delivery;
pub(crate) mod hooks;
pub(crate) mod notices;
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
