//! Reading what a task wrote, and waiting for it.
//!
//! `tasks` shows tasks and events as they are now. `output` reads bytes from any offset and never loads a log whole,
//! `follow` waits for more of it, `readers` keeps cursors, `wait` sleeps until a `condition` holds, and `runs` lists earlier
//! runs. `progress` says how far a task has come, and `silence` leaves out supervisors that do not answer.

pub(crate) mod condition;
pub(crate) mod follow;
pub(crate) mod output;
pub(crate) mod progress;
pub(crate) mod readers;
pub(crate) mod runs;
pub(crate) mod silence;
pub(crate) mod tasks;
pub(crate) mod wait;

use crate::base::part;

part! {
    /// Reads output, and waits for it.
    Reader
}

part! {
    /// Shows tasks and events as they are now.
    Tasks
}
