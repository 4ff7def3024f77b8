//! Who owns tasks.
//!
//! A session is a name that a host gives its tasks. While a host lives it holds a lease on the session; `dir` keeps the
//! session's counters and slots, `starters` says which of several servers in one session started a task, `lifecycle` ends
//! a session with its tasks, and `vacancy` says what becomes of waiting tasks when nobody holds it any more.

pub(crate) mod dir;
pub(crate) mod lease;
pub(crate) mod lifecycle;
pub(crate) mod starters;
pub(crate) mod vacancy;
