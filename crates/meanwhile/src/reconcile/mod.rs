//! Brings the database up to date with what happened, and starts what may start.
//!
//! There is no daemon, so every command does this. `tasks` records new events, gives a task whose supervisor was killed a
//! new one, and queues a task again whose start failed. `unsupervised` finds tasks without a supervisor. `pump` picks the
//! tasks that may start, and `granted` launches them.

pub(crate) mod granted;
pub(crate) mod pump;
pub(crate) mod tasks;
pub(crate) mod unsupervised;

use crate::base::part;

part! {
    /// Brings tasks up to date with their directories.
    pub struct Reconciler;
}
