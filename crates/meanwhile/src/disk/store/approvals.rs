//! Proposals and their states. They stay on record after they are answered.

use mw_model::Timestamp;
use mw_model::approval::{ApprovalState, Digest, Proposal, ProposalId};
use rusqlite::{OptionalExtension, Params, Row, params};

use super::connection::Store;
use super::error::StoreError;
use super::write::{Transaction, json};

/// A proposal and its state.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The proposal.
    pub proposal: Proposal,
    /// The state.
    pub state: ApprovalState,
    /// Answers by processes that may not answer, one per line.
    pub(crate) attempts: Option<String>,
}

impl Entry {
    /// Returns the answers by processes that may not answer: when, and which process.
    #[must_use]
    pub fn refused_answers(&self) -> Vec<String> {
        self.attempts.iter().flat_map(|attempts| attempts.lines()).map(str::to_owned).collect()
    }
}

const COLUMNS: &str = "proposal, state, attempts";

fn read(row: &Row<'_>) -> Result<Entry, StoreError> {
    let (proposal, state): (String, String) = (row.get(0)?, row.get(1)?);
    let corrupt = |error: serde_json::Error| StoreError::Corrupt(error.to_string());
    Ok(Entry {
        proposal: serde_json::from_str(&proposal).map_err(corrupt)?,
        state: serde_json::from_str(&state).map_err(corrupt)?,
        attempts: row.get(2)?,
    })
}

impl Store {
    fn entries(&self, sql: &str, values: impl Params) -> Result<Vec<Entry>, StoreError> {
        let mut query = self.connection.prepare_cached(sql)?;
        let mut rows = query.query(values)?;
        let mut entries = Vec::new();
        while let Some(row) = rows.next()? {
            entries.push(read(row)?);
        }
        Ok(entries)
    }

    /// Returns a proposal.
    pub(crate) fn approval(&self, id: &ProposalId) -> Result<Option<Entry>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM approvals WHERE id = ?1");
        Ok(self.entries(&sql, [id.as_str()])?.pop())
    }

    /// Returns the proposals whose ids begin with `prefix`.
    pub(crate) fn approvals_like(&self, prefix: &str) -> Result<Vec<Entry>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM approvals WHERE substr(id, 1, length(?1)) = ?1 LIMIT 10");
        self.entries(&sql, [prefix])
    }

    /// Returns the proposals without an answer, oldest first.
    pub(crate) fn open_approvals(&self) -> Result<Vec<Entry>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM approvals WHERE word = 'open' ORDER BY seq");
        self.entries(&sql, [])
    }

    /// Returns the proposals that are open, or approved and not used yet.
    pub(crate) fn unfinished_approvals(&self) -> Result<Vec<Entry>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM approvals WHERE word IN ('open', 'approved') ORDER BY seq");
        self.entries(&sql, [])
    }

    /// Returns the newest proposals, newest first.
    pub(crate) fn newest_approvals(&self, most: u32) -> Result<Vec<Entry>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM approvals ORDER BY seq DESC LIMIT ?1");
        self.entries(&sql, [most])
    }
}

impl Transaction<'_> {
    /// Stores a proposal.
    pub(crate) fn propose(&self, proposal: &Proposal, state: &ApprovalState) -> Result<(), StoreError> {
        self.inner.execute(
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
        )?;
        Ok(())
    }

    /// Returns the newest proposal with this digest in a session.
    pub(crate) fn proposed(&self, session: &str, digest: &Digest) -> Result<Option<Entry>, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM approvals WHERE session = ?1 AND digest = ?2 ORDER BY seq DESC LIMIT 1"
        );
        let mut query = self.inner.prepare_cached(&sql)?;
        let mut rows = query.query(params![session, digest.0])?;
        rows.next()?.map(read).transpose()
    }

    /// Returns a proposal.
    pub(crate) fn approval(&self, id: &ProposalId) -> Result<Option<Entry>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM approvals WHERE id = ?1");
        let found = self.inner.query_row(&sql, [id.as_str()], |row| Ok(read(row))).optional()?;
        found.transpose()
    }

    /// Stores the state of a proposal.
    pub(crate) fn set_approval(&self, id: &ProposalId, state: &ApprovalState) -> Result<(), StoreError> {
        self.inner.execute(
            "UPDATE approvals SET word = ?2, state = ?3 WHERE id = ?1",
            params![id.as_str(), state.word(), json(state)?],
        )?;
        Ok(())
    }

    /// Records an answer by a process that may not answer.
    pub(crate) fn note_attempt(&self, id: &ProposalId, text: &str) -> Result<(), StoreError> {
        self.inner.execute(
            "UPDATE approvals SET attempts = coalesce(attempts || char(10), '') || ?2 WHERE id = ?1",
            params![id.as_str(), text],
        )?;
        Ok(())
    }

    /// Deletes proposals that are older than this and no longer open.
    pub(crate) fn forget_approvals(&self, before: Timestamp) -> Result<(), StoreError> {
        self.inner.execute("DELETE FROM approvals WHERE at < ?1 AND word <> 'open'", [before.as_micros()])?;
        Ok(())
    }
}
