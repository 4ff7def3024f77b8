//! Acting on what happened.
//!
//! There is no daemon, so every command settles what it finds. `reconcile` records what is new, gives a task whose
//! supervisor was killed a new one, and puts a task back into the queue whose start came to nothing. `after_end` starts the
//! next task, runs hooks and removes what is old.

pub(crate) mod after_end;
pub(crate) mod reconcile;

use crate::base::part;

part! {
    /// Acts on what happened.
    Settler
}
