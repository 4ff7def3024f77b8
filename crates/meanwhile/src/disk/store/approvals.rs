//! Proposals, and what became of them. Kept for the record after they are answered.

use mw_model::Timestamp;
use mw_model::approval::{ApprovalState, Digest, Proposal, ProposalId};
use rusqlite::{OptionalExtension, Params, Row, params};

use super::connection::Store;
use super::error::StoreError;
use super::write::{Transaction, json};

/// A proposal and what became of it.
#[derive(Clone, Debug)]
pub struct Entry {
    /// What was asked.
    pub proposal: Proposal,
    /// What became of it.
    pub state: ApprovalState,
    /// Tries to answer by somebody who may not, one a line.
    pub(crate) attempts: Option<String>,
}

impl Entry {
    /// Returns the tries to answer by somebody who may not: when, and who.
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

    /// Returns the proposals whose ids begin like that.
    pub(crate) fn approvals_like(&self, prefix: &str) -> Result<Vec<Entry>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM approvals WHERE substr(id, 1, length(?1)) = ?1 LIMIT 10");
        self.entries(&sql, [prefix])
    }

    /// Returns what nobody has answered, oldest first.
    pub(crate) fn open_approvals(&self) -> Result<Vec<Entry>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM approvals WHERE word = 'open' ORDER BY seq");
        self.entries(&sql, [])
    }

    /// Returns what may still come to something.
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
    /// Enters a proposal.
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

    /// Returns the newest proposal of exactly this in a session.
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

    /// Writes where a proposal stands.
    pub(crate) fn set_approval(&self, id: &ProposalId, state: &ApprovalState) -> Result<(), StoreError> {
        self.inner.execute(
            "UPDATE approvals SET word = ?2, state = ?3 WHERE id = ?1",
            params![id.as_str(), state.word(), json(state)?],
        )?;
        Ok(())
    }

    /// Records that somebody tried to answer who may not.
    pub(crate) fn note_attempt(&self, id: &ProposalId, text: &str) -> Result<(), StoreError> {
        self.inner.execute(
            "UPDATE approvals SET attempts = coalesce(attempts || char(10), '') || ?2 WHERE id = ?1",
            params![id.as_str(), text],
        )?;
        Ok(())
    }

    /// Forgets what is older and no longer open.
    pub(crate) fn forget_approvals(&self, before: Timestamp) -> Result<(), StoreError> {
        self.inner.execute("DELETE FROM approvals WHERE at < ?1 AND word <> 'open'", [before.as_micros()])?;
        Ok(())
    }
}
