//! Answers an approval request.

use meanwhile::engine::{ApprovalEntry, Runtime};
use meanwhile::error::Denial;
use meanwhile::model::approval::{Answer, ProposalId, Remember};
use meanwhile::{Error, Result};

use super::task_action::ApprovalReply;
use crate::desk::Desk;

/// Approves a request, and then adds the rule that approves its command from now on. Returns what `add_rule` returns.
///
/// # Errors
/// Fails if the request cannot be approved. No rule is added then, because somebody else may have denied the request. Also
/// fails if the rule cannot be added; the request is approved then.
pub fn approve_always<T, E: From<Error>>(
    runtime: &Runtime,
    id: &ProposalId,
    by: &str,
    add_rule: impl FnOnce() -> std::result::Result<T, E>,
) -> std::result::Result<(ApprovalEntry, T), E> {
    let entry = runtime.approvals().answer(id, Answer::Approve(Remember::Once), by)?;
    Ok((entry, add_rule()?))
}

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
            let id = self.answerable(runtime, id)?;
            runtime.approvals().answer(&id, answer, &self.access().screen)?;
            let word = match reply {
                ApprovalReply::Once => "approved",
                ApprovalReply::Session => "approved for its session",
                ApprovalReply::Deny => "denied",
            };
            Ok(format!("{word} {id}"))
        })
    }

    /// Approves an approval request and its command from now on, with [`approve_always`]. Returns a description of the
    /// result. `add_rule` returns where the rule was added.
    ///
    /// # Errors
    /// As [`Desk::answer`], and if the rule cannot be added.
    pub fn answer_always<E: From<Error>>(
        &self,
        id: &str,
        add_rule: impl FnOnce() -> std::result::Result<String, E>,
    ) -> std::result::Result<Vec<String>, E> {
        // What adds the rule may have errors that the home does not know.
        let done = self.with(|runtime| {
            let id = self.answerable(runtime, id)?;
            let added = approve_always(runtime, &id, &self.access().screen, || Ok::<_, Error>(add_rule()))?.1;
            Ok(added.map(|place| vec![format!("approved {id}"), format!("added a rule to {place}")]))
        });
        done?
    }

    /// Finds a request that this screen may answer.
    fn answerable(&self, runtime: &Runtime, id: &str) -> Result<ProposalId> {
        let id = runtime.approvals().find_approval(id)?.proposal.id;
        let Some(task) = &self.access().inside else { return Ok(id) };
        runtime.approvals().note_forbidden_answer(&id, &format!("task {task}"))?;
        Err(Error::Denied(Denial::InsideTask { id, task: task.clone() }))
    }
}
