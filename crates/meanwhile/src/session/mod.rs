//! Who owns tasks.
//!
//! A session is a name that a host gives its tasks. While a host lives it holds a lease on the session. `starters` says
//! which of several servers in one session started a task, `lifecycle` ends a session with its tasks, and `vacancy` says
//! what happens to queued tasks when nobody holds the session any more.

pub(crate) mod lifecycle;
pub(crate) mod starters;
pub(crate) mod vacancy;

use crate::base::part;

part! {
    /// Knows who owns tasks.
    Sessions
}
