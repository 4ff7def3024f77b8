//! The background work after a task has ended: `mw settle`, which a supervisor starts as its last act.
//!
//! `run` records the end, starts the next task, runs hooks, and purges from time to time. `alarm` is the same program, which
//! starts tasks when they are due.

mod alarm;
mod run;

use crate::base::part;

part! {
    /// Does the work that is due after a task has ended.
    pub struct Settler;
}
