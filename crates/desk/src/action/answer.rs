//! Answers an approval request.

use meanwhile::error::Denial;
use meanwhile::model::approval::Answer;
use meanwhile::{Error, Result};

use super::task_action::ApprovalReply;
use crate::desk::Desk;

impl Desk {
    /// Answers an approval request. Returns a description of the result. A screen that runs inside a task cannot
    /// answer, because it would answer for a person.
    ///
    /// # Errors
    /// Fails if there is no such request, it is no longer open, or the screen may not answer it.
    pub fn answer(&self, id: &str, reply: ApprovalReply) -> Result<String> {
        self.answer_with(id, reply, reply.answer())
    }

    /// Denies an approval request with a reason for the agent to read.
    ///
    /// # Errors
    /// As [`Desk::answer`].
    pub fn deny(&self, id: &str, reason: &str) -> Result<String> {
        self.answer_with(id, ApprovalReply::Deny, Answer::Deny(reason.to_owned()))
    }

    fn answer_with(&self, id: &str, reply: ApprovalReply, answer: Answer) -> Result<String> {
        self.with(|runtime| {
            let id = runtime.approvals().find_approval(id)?.proposal.id;
            if let Some(task) = &self.access().inside {
                runtime.approvals().note_forbidden_answer(&id, &format!("task {task}"))?;
                return Err(Error::Denied(Denial::InsideTask { id, task: task.clone() }));
            }
            runtime.approvals().answer(&id, answer, &self.access().screen)?;
            let word = match reply {
                ApprovalReply::Once => "approved",
                ApprovalReply::Session => "approved for its session",
                ApprovalReply::Deny => "denied",
            };
            Ok(format!("{word} {id}"))
        })
    }
}
