//! Sessions as a whole.
//!
//! A session is a name that a host gives its tasks. While a host lives, it holds a lease on the session. `lifecycle`
//! lists sessions, ends a session with its tasks and moves tasks to another session. `children` does so for the
//! session of an agent. `calls` lets a host answer its confined tasks. `starter` finds sessions by the program that started their hosts.

pub(crate) mod calls;
pub(crate) mod children;
pub(crate) mod lifecycle;
pub(crate) mod starter;

use crate::base::part;

part! {
    /// Lists, ends and deletes sessions.
    pub struct Sessions;
}
