//! Answers to approval requests, for `mw approve` and `mw deny`.

use meanwhile::Error;
use meanwhile::engine::{ApprovalEntry, Runtime};
use meanwhile::error::Denial;
use meanwhile::model::approval::{ApprovalState, ProposedAction};
use serde_json::{Value, json};

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
    context.show(&as_json(entry), || format!("{word} {}: {}\n", proposal.id, shown(&proposal.exact())))
}

/// Returns a request as JSON, with one schema for every kind and state.
pub(crate) fn as_json(entry: &ApprovalEntry) -> Value {
    let proposal = &entry.proposal;
    let (steps, cwd, expected, took_ms) = match &proposal.action {
        ProposedAction::Start { steps, cwd, expected, took_ms, .. } => {
            (steps.as_slice(), Some(cwd.to_lossy()), expected.as_ref(), took_ms.as_ref())
        }
        ProposedAction::Other { .. } => (&[] as &[_], None, None, None),
    };
    let (by, at, why, task) = match &entry.state {
        ApprovalState::Open => (None, None, None, None),
        ApprovalState::Approved { by, at, .. } => (Some(by), Some(at), None, None),
        ApprovalState::Denied { by, at, why } => (Some(by), Some(at), Some(why), None),
        ApprovalState::Used { by, at, task, .. } => (Some(by), Some(at), None, task.as_ref()),
        ApprovalState::Lapsed { at } => (None, Some(at), None, None),
    };
    json!({
        "id": proposal.id, "status": entry.state.word(), "session": proposal.session, "tool": proposal.tool,
        "command": proposal.exact(), "steps": steps, "cwd": cwd, "reasons": proposal.reasons,
        "env": proposal.environment(), "effects": proposal.effects, "expected": expected, "took_ms": took_ms, "rules": proposal.rules, "digest": proposal.digest,
        "asked_at": proposal.asked_at, "answered_by": by, "answered_at": at, "reason": why, "task_id": task,
        "for_session": entry.is_remembered(), "refused_answers": entry.refused_answers(),
    })
}
