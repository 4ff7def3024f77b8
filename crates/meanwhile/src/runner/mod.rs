//! What happens in the background after a task has ended: `mw settle`, which a supervisor starts as its last act.
//!
//! `after_end` records the ending, starts the next task, runs hooks, and removes now and then what is old.

pub(crate) mod after_end;

use crate::base::part;

part! {
    /// Does what is due after a task has ended.
    Runner
}
