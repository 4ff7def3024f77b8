//! `mw approvals`: what waits for a person, and what became of what did.

use clap::Args;
use meanwhile::engine::ApprovalEntry;
use meanwhile::model::approval::{ApprovalState, Deed};
use serde_json::{Value, json};

use crate::config::shown;
use crate::context::Context;
use crate::error::CommandResult;
use crate::render;

#[derive(Args)]
pub(crate) struct Arguments {
    /// Show earlier requests and their outcome, newest first
    #[arg(long)]
    history: bool,
    /// Maximum number of earlier requests to show
    #[arg(long, value_name = "N", default_value_t = 50, requires = "history")]
    limit: u32,
}

impl Arguments {
    pub(crate) fn run(self, context: &Context) -> CommandResult {
        let runtime = context.runtime()?;
        let mut entries = if self.history {
            runtime.approvals().approval_history(self.limit)?
        } else {
            runtime.approvals().open_approvals(context.config.policy.patience.keep)?
        };
        // A task sees what concerns its own session.
        if let Some(session) = runtime.approvals().session_around(None) {
            entries.retain(|entry| entry.proposal.session == session);
        }
        if context.json {
            let entries: Vec<_> = entries.iter().map(as_json).collect();
            render::json(&json!({ "approvals": entries }))?;
            return Ok(0);
        }
        if entries.is_empty() {
            let nothing =
                if self.history { "No approval requests yet.\n" } else { "No open approval requests.\n" };
            render::out(nothing)?;
        }
        for entry in &entries {
            render::out(&if self.history { line(entry) } else { question(entry) })?;
        }
        Ok(0)
    }
}

/// One schema, whatever was asked and whatever became of it.
pub(super) fn as_json(entry: &ApprovalEntry) -> Value {
    let proposal = &entry.proposal;
    let (steps, cwd, expected, took_ms) = match &proposal.deed {
        Deed::Start { steps, cwd, expected, took_ms, .. } => {
            (steps.as_slice(), Some(cwd.to_lossy()), expected.as_ref(), took_ms.as_ref())
        }
        Deed::Other { .. } => (&[] as &[_], None, None, None),
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

/// Everything that a person needs to answer.
fn question(entry: &ApprovalEntry) -> String {
    let proposal = &entry.proposal;
    format!(
        "{}  requested {}\n{}\n  mw approve {}   mw deny {}\n\n",
        proposal.id,
        proposal.asked_at,
        proposal.matter(),
        proposal.id,
        proposal.id
    )
}

fn line(entry: &ApprovalEntry) -> String {
    let proposal = &entry.proposal;
    let became = match &entry.state {
        ApprovalState::Open => "open".to_owned(),
        ApprovalState::Approved { by, at, .. } if entry.is_remembered() => {
            format!("approved for its session by {by} at {at}")
        }
        ApprovalState::Approved { by, at, .. } => format!("approved by {by} at {at}, not used yet"),
        ApprovalState::Denied { by, at, why } if why.is_empty() => format!("denied by {by} at {at}"),
        ApprovalState::Denied { by, at, why } => format!("denied by {by} at {at}: {why}"),
        ApprovalState::Used { by, at, task: Some(task), .. } => {
            format!("approved by {by} at {at}, started {task}")
        }
        ApprovalState::Used { by, at, task: None, .. } => format!("approved by {by} at {at}, done"),
        ApprovalState::Lapsed { at } => format!("expired at {at}: not answered or not used"),
    };
    let mut text = format!(
        "{}  {}  session {}  {}\n    {}\n    {}\n",
        proposal.id,
        proposal.asked_at,
        shown(&proposal.session),
        proposal.tool,
        shown(&proposal.exact()),
        shown(&became),
    );
    for attempt in entry.refused_answers() {
        text.push_str(&format!("    refused: {}\n", shown(&attempt)));
    }
    text
}
