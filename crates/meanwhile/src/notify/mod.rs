//! Notifies owners of what happened, exactly once.
//!
//! An event that concerns the owner (`mw_model::NoticeKind::of`) makes a notification in the transaction that records it. The
//! `session_holder` receives the notifications of its session. `ledger` tracks their delivery, `notice` builds their text, and
//! `delivery` closes those that have arrived. `owner` records what an owner learned by itself, `delivery_state` shows what it
//! knows, and `starters` decides which of several servers delivers. `subscription` streams events.

pub(crate) mod delivery;
pub(crate) mod delivery_state;
pub(crate) mod ledger;
mod notice;
mod owner;
pub(crate) mod session_holder;
pub(crate) mod starters;
pub(crate) mod subscription;

use crate::base::part;

part! {
    /// Notifies owners of what happened, exactly once.
    pub struct Notifications;
}
