//! The actions that a screen can request.

use meanwhile::model::approval::{Answer, Remember};
use serde::{Deserialize, Serialize};

use crate::query::Query;

/// An action of a screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TaskAction {
    /// End tasks.
    Kill(Vec<String>, Force),
    /// Run them again.
    Restart(Vec<String>),
    /// Type a line into it.
    Input(String, String),
    /// Answer a proposal.
    Answer(String, Reply),
    /// Remove tasks that have ended.
    Clear(Removal),
}

/// How a task is ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Force {
    /// Asked first.
    Term,
    /// At once.
    Kill,
}

/// A person's answer to a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reply {
    /// Yes, to this.
    Once,
    /// Yes, and to every further start of exactly this in its session.
    Session,
    /// No.
    Deny,
}

impl Reply {
    /// Returns the answer as it is recorded.
    #[must_use]
    pub const fn answer(self) -> Answer {
        match self {
            Self::Once => Answer::Approve(Remember::Once),
            Self::Session => Answer::Approve(Remember::Session),
            Self::Deny => Answer::Deny(String::new()),
        }
    }
}

/// What is removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Removal {
    /// These.
    These(Vec<String>),
    /// All that have ended and fit.
    Ended(Query),
}
