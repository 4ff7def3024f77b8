//! Who asks for the end of a task, as records name it.

use std::fmt;

/// A requester that several programs name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Requester<'a> {
    /// A session, through one of its hosts or tasks.
    Session(&'a str),
    /// The end of the session that the task belongs to.
    SessionEnd,
}

impl fmt::Display for Requester<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Session(session) => write!(f, "session {session}"),
            Self::SessionEnd => f.write_str("the end of its session"),
        }
    }
}
