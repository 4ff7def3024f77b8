//! The result of an action.

use meanwhile::{Error, Result};

use super::answer::Answered;
use super::clear::Cleared;
use super::input::Given;
use super::kill::Killed;
use super::restart::Restarted;
use super::wanted::TaskAction;
use crate::desk::Desk;

/// The result of an action.
#[derive(Debug)]
pub enum Outcome {
    /// Tasks were ended.
    Killed(Killed),
    /// Tasks run again.
    Restarted(Restarted),
    /// A task was given input.
    Given(Given),
    /// An approval request was answered.
    Answered(Answered),
    /// Tasks were removed.
    Cleared(Cleared),
}

/// A task for which an action failed, while it went on for others.
#[derive(Debug)]
pub struct Failure {
    /// The task, as it was named.
    pub id: String,
    /// The reason.
    pub error: Error,
}

impl Outcome {
    /// Describes the result, the most important line first.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        match self {
            Self::Killed(killed) => killed.lines(),
            Self::Restarted(restarted) => restarted.lines(),
            Self::Given(given) => vec![given.line()],
            Self::Answered(answered) => vec![answered.line()],
            Self::Cleared(cleared) => cleared.lines(),
        }
    }
}

impl Desk {
    /// Performs an action on tasks or an approval request. It may take as long as a task takes to die.
    ///
    /// # Errors
    /// When nothing was done.
    pub fn act(&self, action: &TaskAction) -> Result<Outcome> {
        match action {
            TaskAction::Kill(ids, force) => self.kill(ids, *force).map(Outcome::Killed),
            TaskAction::Restart(ids) => self.restart(ids).map(Outcome::Restarted),
            TaskAction::Input(id, text) => self.input(id, text).map(Outcome::Given),
            TaskAction::Answer(id, reply) => self.answer(id, *reply).map(Outcome::Answered),
            TaskAction::Clear(removal) => self.clear(removal).map(Outcome::Cleared),
        }
    }
}
