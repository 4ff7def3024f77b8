//! Answers an approval request.

use meanwhile::error::Denial;
use meanwhile::model::approval::ProposalId;
use meanwhile::{Error, Result};

use super::wanted::Reply;
use crate::desk::Desk;

/// A question that was answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answered {
    /// The id of the request.
    pub id: ProposalId,
    /// The answer.
    pub reply: Reply,
}

impl Answered {
    /// Describes the result.
    #[must_use]
    pub fn line(&self) -> String {
        let word = match self.reply {
            Reply::Once => "approved",
            Reply::Session => "approved for its session",
            Reply::Deny => "denied",
        };
        format!("{word} {}", self.id)
    }
}

impl Desk {
    /// Answers a question. A screen that runs inside a task cannot: it would answer for a person.
    ///
    /// # Errors
    /// When there is none, it is no longer open, or the screen may not answer it.
    pub fn answer(&self, id: &str, reply: Reply) -> Result<Answered> {
        self.with(|runtime| {
            let id = runtime.approvals().find_approval(id)?.proposal.id;
            if let Some(task) = &self.access().inside {
                runtime.approvals().note_forbidden_answer(&id, &format!("task {task}"))?;
                return Err(Error::Denied(Denial::InsideTask { id, task: task.clone() }));
            }
            runtime.approvals().answer(&id, reply.answer(), &self.access().screen)?;
            Ok(Answered { id, reply })
        })
    }
}
