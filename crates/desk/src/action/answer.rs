//! Answers an approval request.

use meanwhile::error::Denial;
use meanwhile::{Error, Result};

use super::task_action::Reply;
use crate::desk::Desk;

impl Desk {
    /// Answers an approval request. Returns a description of the result. A screen that runs inside a task cannot
    /// answer, because it would answer for a person.
    ///
    /// # Errors
    /// Fails if there is no such request, it is no longer open, or the screen may not answer it.
    pub fn answer(&self, id: &str, reply: Reply) -> Result<String> {
        self.with(|runtime| {
            let id = runtime.approvals().find_approval(id)?.proposal.id;
            if let Some(task) = &self.access().inside {
                runtime.approvals().note_forbidden_answer(&id, &format!("task {task}"))?;
                return Err(Error::Denied(Denial::InsideTask { id, task: task.clone() }));
            }
            runtime.approvals().answer(&id, reply.answer(), &self.access().screen)?;
            let word = match reply {
                Reply::Once => "approved",
                Reply::Session => "approved for its session",
                Reply::Deny => "denied",
            };
            Ok(format!("{word} {id}"))
        })
    }
}
