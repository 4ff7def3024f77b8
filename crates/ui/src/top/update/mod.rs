//! The one way in which the screen changes: an event comes, effects go. No I/O here.
//!
//! ```text
//! Event ─▶ take ─┬▶ modes ─▶ actions, tasks      a key, by what keys mean at the moment
//!                ├▶ mouse
//!                └▶ load                         asks for what should be on screen ─▶ Effect
//! ```

mod actions;
mod load;
mod modes;
mod mouse;
mod take;
mod tasks;

pub(super) use modes::STATES;
pub(super) use take::update;
