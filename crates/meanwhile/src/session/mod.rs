//! A session as a whole.
//!
//! A session is a name that a host gives its tasks. While a host lives it holds a lease on the session. `lifecycle` lists
//! sessions, ends one with its tasks and passes tasks on to another, and `children` does so for the session of an agent.

pub(crate) mod children;
pub(crate) mod lifecycle;

use crate::base::part;

part! {
    /// Knows who owns tasks.
    Sessions
}
