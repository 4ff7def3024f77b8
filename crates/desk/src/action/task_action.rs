//! The actions that a screen can request.

use meanwhile::Result;
use meanwhile::model::approval::{Answer, Remember};
use serde::{Deserialize, Serialize};

use crate::desk::Desk;
use crate::query::Query;

/// An action that a screen requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TaskAction {
    /// Kill these tasks.
    Kill(Vec<String>, Force),
    /// Restart these tasks.
    Restart(Vec<String>),
    /// Send a line of input to this task.
    Input(String, String),
    /// Answer the approval request with this id.
    Answer(String, ApprovalReply),
    /// Remove ended tasks.
    Clear(Removal),
}

/// How a task is killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Force {
    /// Send SIGTERM first, and SIGKILL after a grace period.
    Term,
    /// Send SIGKILL at once.
    Kill,
}

/// A person's answer to an approval request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalReply {
    /// Approve this request only.
    Once,
    /// Approve this request, and every further start of exactly the same command in its session.
    Session,
    /// Deny the request.
    Deny,
}

impl ApprovalReply {
    /// Converts the reply to the answer that is recorded.
    #[must_use]
    pub const fn answer(self) -> Answer {
        match self {
            Self::Once => Answer::Approve(Remember::Once),
            Self::Session => Answer::Approve(Remember::Session),
            Self::Deny => Answer::Deny(String::new()),
        }
    }
}

/// The tasks to remove.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Removal {
    /// Remove the tasks with these ids.
    These(Vec<String>),
    /// Remove all ended tasks that match this query.
    Ended(Query),
}

impl Desk {
    /// Performs an action and describes its result, the most important line first. A kill blocks until the task has
    /// ended.
    ///
    /// # Errors
    /// Fails if nothing was done.
    pub fn act(&self, action: &TaskAction) -> Result<Vec<String>> {
        match action {
            TaskAction::Kill(ids, force) => self.kill(ids, *force),
            TaskAction::Restart(ids) => self.restart(ids),
            TaskAction::Input(id, text) => self.input(id, text).map(|line| vec![line]),
            TaskAction::Answer(id, reply) => self.answer(id, *reply).map(|line| vec![line]),
            TaskAction::Clear(removal) => self.clear(removal),
        }
    }
}
