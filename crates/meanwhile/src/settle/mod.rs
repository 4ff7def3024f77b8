//! Acting on what happened.
//!
//! There is no daemon, so every command settles what it finds. `reconcile` records what is new, gives a task whose
//! supervisor was killed a new one, and puts a task back into the queue whose start came to nothing. `vanished` finds tasks
//! that nobody looks after any more. `pump` picks the tasks that may start, and `granted` launches them.

pub(crate) mod granted;
pub(crate) mod pump;
pub(crate) mod reconcile;
pub(crate) mod vanished;

use crate::base::part;

part! {
    /// Acts on what happened.
    Settler
}
