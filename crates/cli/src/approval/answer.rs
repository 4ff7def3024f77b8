//! Answers to approval requests, for `mw approve` and `mw deny`.

use meanwhile::Error;
use meanwhile::engine::{ApprovalEntry, Runtime};
use meanwhile::error::Denial;
use mw_desk::rows::ApprovalRow;

use super::gated_call::around;
use crate::config::shown;
use crate::context::Context;
use crate::error::{CommandError, CommandResult};

/// Finds a request that may be answered here. A task of an agent cannot approve for it.
pub(crate) fn answerable(
    runtime: &Runtime,
    handle: &str,
    context: &Context,
) -> Result<ApprovalEntry, CommandError> {
    let entry = runtime.approvals().find_approval(handle)?;
    let Some(task) = around(runtime) else { return Ok(entry) };
    let who = format!("task {task} of session {}", context.owner());
    runtime.approvals().note_forbidden_answer(&entry.proposal.id, &who)?;
    Err(Error::Denied(Denial::InsideTask { id: entry.proposal.id, task }).into())
}

/// Prints an answered request.
pub(crate) fn report(context: &Context, entry: &ApprovalEntry, word: &str) -> CommandResult {
    let proposal = &entry.proposal;
    context
        .show(&ApprovalRow::of(entry), || format!("{word} {}: {}\n", proposal.id, shown(&proposal.exact())))
}
