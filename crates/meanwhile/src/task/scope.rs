//! Which tasks an operation may see.

/// The tasks that an operation may see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// All tasks of this user.
    All,
    /// The tasks of one session; others are "not found".
    Session(String),
}

impl Scope {
    /// Returns the session that it is limited to.
    pub(crate) fn session(&self) -> Option<&str> {
        if let Self::Session(session) = self { Some(session) } else { None }
    }

    /// Returns whether it includes the tasks of a session.
    pub(crate) fn includes(&self, session: &str) -> bool {
        self.session().is_none_or(|own| own == session)
    }
}
