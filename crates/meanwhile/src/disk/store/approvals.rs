//! Proposals and their states. They stay on record after they are answered.

use mw_model::Timestamp;
use mw_model::approval::{ApprovalState, Proposal, ProposalId};
use rusqlite::{Params, params};

use super::connection::Store;
use super::error::StoreError;
use super::query::decoded;
use super::write::{Transaction, json};

/// A proposal and its state.
#[derive(Clone, Debug)]
pub struct ApprovalEntry {
    /// The proposal.
    pub proposal: Proposal,
    /// The state.
    pub state: ApprovalState,
    /// Answers by processes that may not answer, one per line.
    pub(crate) attempts: Option<String>,
}

impl ApprovalEntry {
    /// Returns the answers by processes that may not answer: when, and which process.
    #[must_use]
    pub fn refused_answers(&self) -> Vec<String> {
        self.attempts.iter().flat_map(|attempts| attempts.lines()).map(str::to_owned).collect()
    }
}

impl Store {
    /// Returns the proposals that match the rest of a query.
    fn entries(&self, rest: &str, values: impl Params) -> Result<Vec<ApprovalEntry>, StoreError> {
        let sql = format!("SELECT proposal, state, attempts FROM approvals {rest}");
        self.rows(&sql, values, |row| {
            Ok(ApprovalEntry { proposal: decoded(row, 0)?, state: decoded(row, 1)?, attempts: row.get(2)? })
        })
    }

    /// Returns a proposal.
    pub(crate) fn approval(&self, id: &ProposalId) -> Result<Option<ApprovalEntry>, StoreError> {
        Ok(self.entries("WHERE id = ?1", [id.as_str()])?.pop())
    }

    /// Returns the proposals whose ids begin with `prefix`.
    pub(crate) fn approvals_like(&self, prefix: &str) -> Result<Vec<ApprovalEntry>, StoreError> {
        self.entries("WHERE substr(id, 1, length(?1)) = ?1 LIMIT 10", [prefix])
    }

    /// Returns the proposals without an answer, oldest first.
    pub(crate) fn open_approvals(&self) -> Result<Vec<ApprovalEntry>, StoreError> {
        self.entries("WHERE word = 'open' ORDER BY seq", [])
    }

    /// Returns the proposals that are open, or approved and not used yet.
    pub(crate) fn unfinished_approvals(&self) -> Result<Vec<ApprovalEntry>, StoreError> {
        self.entries("WHERE word IN ('open', 'approved') ORDER BY seq", [])
    }

    /// Returns the newest proposals, newest first.
    pub(crate) fn newest_approvals(&self, most: u32) -> Result<Vec<ApprovalEntry>, StoreError> {
        self.entries("ORDER BY seq DESC LIMIT ?1", [most])
    }

    /// Returns the newest proposal for the same operation in its session. An approval of a foreground command does not approve
    /// the same command in the background. A denial applies to both.
    pub(crate) fn proposed(&self, proposal: &Proposal) -> Result<Option<ApprovalEntry>, StoreError> {
        const MOST: u32 = 20;
        let rest = "WHERE session = ?1 AND digest = ?2 ORDER BY seq DESC LIMIT ?3";
        let newest = self.entries(rest, params![proposal.session, proposal.digest.0, MOST])?;
        let answers = |entry: &ApprovalEntry| {
            matches!(entry.state, ApprovalState::Denied { .. })
                || entry.proposal.action.is_awaited() == proposal.action.is_awaited()
        };
        Ok(newest.into_iter().find(answers))
    }
}

impl Transaction<'_> {
    /// Stores a proposal.
    pub(crate) fn propose(&self, proposal: &Proposal, state: &ApprovalState) -> Result<(), StoreError> {
        self.change(
            "INSERT INTO approvals (id, session, digest, at, word, proposal, state) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            params![
                proposal.id.as_str(),
                proposal.session,
                proposal.digest.0,
                proposal.asked_at.as_micros(),
                state.word(),
                json(proposal)?,
                json(state)?
            ],
        )
    }

    /// Stores the state of a proposal.
    pub(crate) fn set_approval(&self, id: &ProposalId, state: &ApprovalState) -> Result<(), StoreError> {
        let sql = "UPDATE approvals SET word = ?2, state = ?3 WHERE id = ?1";
        self.change(sql, params![id.as_str(), state.word(), json(state)?])
    }

    /// Records an answer by a process that may not answer.
    pub(crate) fn note_attempt(&self, id: &ProposalId, text: &str) -> Result<(), StoreError> {
        let sql = "UPDATE approvals SET attempts = coalesce(attempts || char(10), '') || ?2 WHERE id = ?1";
        self.change(sql, params![id.as_str(), text])
    }

    /// Deletes proposals that are older than this and no longer open.
    pub(crate) fn forget_approvals(&self, before: Timestamp) -> Result<(), StoreError> {
        self.change("DELETE FROM approvals WHERE at < ?1 AND word <> 'open'", [before.as_micros()])
    }
}
