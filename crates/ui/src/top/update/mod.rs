//! Updates the state for an input and returns the effects. It does no I/O.
//!
//! ```text
//! Event ─▶ take ─┬▶ modes ─▶ actions, tasks      a key, by its current meaning
//!                ├▶ mouse
//!                └▶ load                         requests missing data ─▶ Effect
//! ```

mod actions;
mod input;
mod load;
mod modes;
mod mouse;
mod tasks;

pub(super) use input::update;
pub(super) use modes::STATES;
