//! Sessions as a whole.
//!
//! A session is a name that a host gives its tasks. While a host lives, it holds a lease on the session. `lifecycle`
//! lists sessions, ends a session with its tasks and moves tasks to another session. `children` does so for the
//! session of an agent.

pub(crate) mod children;
pub(crate) mod lifecycle;

use crate::base::part;

part! {
    /// Lists, ends and deletes sessions.
    Sessions
}
