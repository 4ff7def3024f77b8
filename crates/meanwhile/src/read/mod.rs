//! Reads the output of tasks and waits for it.
//!
//! `tasks` shows the current tasks and events. `output` reads bytes from any offset and never loads a whole log,
//! `follow` waits for more output, `readers` keeps cursors, `wait` sleeps until a `condition` is true, and `runs`
//! lists earlier runs. `direct` waits for one task without the database. `progress` reports the progress of a task, and `unresponsive` skips supervisors that do not answer.

pub(crate) mod condition;
mod direct;
pub(crate) mod follow;
pub(crate) mod output;
pub(crate) mod progress;
pub(crate) mod readers;
pub(crate) mod runs;
pub(crate) mod tasks;
pub(crate) mod unresponsive;
pub(crate) mod wait;

use crate::base::part;

part! {
    /// Reads output and waits for it.
    pub struct Reader;
}

part! {
    /// Shows the current tasks and events.
    pub struct Tasks;
}
