//! An approval request with its state, in the form that programs read.

use meanwhile::TaskId;
use meanwhile::engine::ApprovalEntry;
use meanwhile::model::Timestamp;
use meanwhile::model::approval::{ApprovalState, Digest, ProposalId, ProposedAction};
use serde::Serialize;

/// An approval request. Serialised, this is the schema of `mw approvals --json`, with one form for every kind and state.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ApprovalRow {
    /// The id of the request.
    pub id: ProposalId,
    /// The state: `open`, `approved`, `denied`, `used` or `lapsed`.
    pub status: &'static str,
    /// The session that asks.
    pub session: String,
    /// The tool or command that asks.
    pub tool: String,
    /// The exact command, or the action in words.
    pub command: String,
    /// The steps of the command, if it has several.
    pub steps: Vec<String>,
    /// The directory.
    pub cwd: Option<String>,
    /// Why approval is required.
    pub reasons: Vec<String>,
    /// The variables that the call sets.
    pub env: Vec<String>,
    /// What the command may do if it is approved, in words.
    pub grant: Option<String>,
    /// What the command would do, in words.
    pub effects: Vec<String>,
    /// The expected duration or size, in the caller's words.
    pub expected: Option<String>,
    /// How long the same command took the last time, in milliseconds.
    pub took_ms: Option<u64>,
    /// The rules that decided.
    pub rules: Vec<String>,
    /// The fingerprint of what an approval covers.
    pub digest: Digest,
    /// When it was requested.
    pub asked_at: Timestamp,
    /// Who answered.
    pub answered_by: Option<String>,
    /// When it was answered or has expired.
    pub answered_at: Option<Timestamp>,
    /// The reason of a denial.
    pub reason: Option<String>,
    /// The task that was started.
    pub task_id: Option<TaskId>,
    /// Whether it was approved for its session.
    pub for_session: bool,
    /// Answers by processes that may not answer.
    pub refused_answers: Vec<String>,
}

impl ApprovalRow {
    /// Describes an approval request.
    #[must_use]
    pub fn of(entry: &ApprovalEntry) -> Self {
        let proposal = &entry.proposal;
        let (steps, cwd, expected, took_ms) = match &proposal.action {
            ProposedAction::Start { steps, cwd, expected, took_ms, .. } => {
                (steps.clone(), Some(cwd.to_lossy()), expected.clone(), *took_ms)
            }
            ProposedAction::Other { .. } => (Vec::new(), None, None, None),
        };
        let (answered_by, answered_at, reason, task_id) = match &entry.state {
            ApprovalState::Open => (None, None, None, None),
            ApprovalState::Approved { by, at, .. } => (Some(by.clone()), Some(*at), None, None),
            ApprovalState::Denied { by, at, why } => (Some(by.clone()), Some(*at), Some(why.clone()), None),
            ApprovalState::Used { by, at, task, .. } => (Some(by.clone()), Some(*at), None, task.clone()),
            ApprovalState::Lapsed { at } => (None, Some(*at), None, None),
        };
        Self {
            id: proposal.id.clone(),
            status: entry.state.word(),
            session: proposal.session.clone(),
            tool: proposal.tool.clone(),
            command: proposal.exact(),
            steps,
            cwd,
            reasons: proposal.reasons.clone(),
            env: proposal.environment(),
            grant: proposal.granted(),
            effects: proposal.effects.clone(),
            expected,
            took_ms,
            rules: proposal.rules.clone(),
            digest: proposal.digest.clone(),
            asked_at: proposal.asked_at,
            answered_by,
            answered_at,
            reason,
            task_id,
            for_session: entry.is_remembered(),
            refused_answers: entry.refused_answers(),
        }
    }
}
