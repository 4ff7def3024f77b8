//! Acting on what happened.
//!
//! There is no daemon, so every command settles what it finds. `reconcile` records new events, gives a task whose
//! supervisor was killed a new one, and queues a task again whose start failed. `vanished` finds tasks without a
//! supervisor. `pump` picks the tasks that may start, and `granted` launches them.

pub(crate) mod granted;
pub(crate) mod pump;
pub(crate) mod reconcile;
pub(crate) mod vanished;

use crate::base::part;

part! {
    /// Acts on what happened.
    Settler
}
