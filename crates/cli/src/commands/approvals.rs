//! `mw approvals`: lists open approval requests, or earlier ones.

use clap::Args;
use meanwhile::engine::ApprovalEntry;
use meanwhile::model::approval::ApprovalState;
use mw_desk::rows::ApprovalRow;
use serde_json::json;

use crate::config::shown;
use crate::context::Context;
use crate::error::CommandResult;

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
            runtime.approvals().open_approvals(context.config.policy.timeouts.keep)?
        };
        // A task sees what concerns its own session.
        if let Some(session) = runtime.approvals().enclosing_session(None) {
            entries.retain(|entry| entry.proposal.session == session);
        }
        let value = json!({ "approvals": entries.iter().map(ApprovalRow::of).collect::<Vec<_>>() });
        context.show(&value, || match (entries.is_empty(), self.history) {
            (true, true) => "No approval requests yet.\n".to_owned(),
            (true, false) => "No open approval requests.\n".to_owned(),
            (false, true) => entries.iter().map(line).collect(),
            (false, false) => entries.iter().map(question).collect(),
        })
    }
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
