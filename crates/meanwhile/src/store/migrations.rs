//! The schema, as a list of steps. A released step is never changed.

use std::path::Path;

use rusqlite::Connection;

use super::connection::Store;
use super::error::StoreError;
use super::write::Transaction;

/// One step per released schema; `user_version` counts the steps a database has taken.
const STEPS: [&str; 2] = [
    // The newest event is never deleted, so that its number is not given twice. `phase`: 0 waits for a slot, 1 holds one, 2 has ended. Numbers of a session's tasks rise with
    // `seq`, so the index on them lists a session in order too.
    "
    CREATE TABLE tasks (
        seq INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        kind TEXT NOT NULL,
        session TEXT NOT NULL,
        number INTEGER NOT NULL,
        name TEXT,
        description TEXT,
        command TEXT NOT NULL,
        cwd TEXT NOT NULL,
        batch TEXT,
        lifetime TEXT NOT NULL,
        priority INTEGER NOT NULL,
        after TEXT,
        deadline INTEGER,
        created_at INTEGER NOT NULL,
        approved_by TEXT NOT NULL,
        approved_at INTEGER NOT NULL,
        phase INTEGER NOT NULL,
        status TEXT NOT NULL,
        state TEXT NOT NULL,
        pid INTEGER,
        duration_ms INTEGER,
        output_bytes INTEGER NOT NULL DEFAULT 0,
        dropped_bytes INTEGER NOT NULL DEFAULT 0,
        survivors INTEGER NOT NULL DEFAULT 0,
        resume_count INTEGER NOT NULL DEFAULT 0,
        journal_seen INTEGER NOT NULL DEFAULT 0
    );
    CREATE UNIQUE INDEX tasks_by_session ON tasks (session, number);
    CREATE INDEX tasks_by_status ON tasks (status, seq);
    CREATE INDEX tasks_waiting ON tasks (session, priority DESC, seq) WHERE phase = 0;
    CREATE INDEX tasks_live ON tasks (session) WHERE phase = 1;
    CREATE INDEX tasks_surviving ON tasks (seq) WHERE survivors > 0;
    CREATE INDEX tasks_by_name ON tasks (name, seq) WHERE name IS NOT NULL;
    CREATE INDEX tasks_by_batch ON tasks (batch, seq) WHERE batch IS NOT NULL;
    CREATE TABLE events (
        seq INTEGER PRIMARY KEY,
        task TEXT NOT NULL,
        run INTEGER NOT NULL,
        at INTEGER NOT NULL,
        event TEXT NOT NULL
    );
    CREATE TABLE sessions (
        id TEXT PRIMARY KEY,
        last_number INTEGER NOT NULL
    ) WITHOUT ROWID;
    CREATE TABLE cursors (
        reader TEXT NOT NULL,
        task TEXT NOT NULL,
        stream TEXT NOT NULL,
        run INTEGER NOT NULL,
        position INTEGER NOT NULL,
        PRIMARY KEY (reader, task, stream)
    ) WITHOUT ROWID;
    ",
    // `stage`: 0 waits to be handed over, 1 need not be (the owner knows), 2 was handed to `holder`, 3 was
    // acknowledged. `ordinal` tells the stalls of one run apart.
    "
    CREATE TABLE notices (
        number INTEGER PRIMARY KEY,
        session TEXT NOT NULL,
        task TEXT NOT NULL,
        run INTEGER NOT NULL,
        kind TEXT NOT NULL,
        ordinal INTEGER NOT NULL,
        at INTEGER NOT NULL,
        news TEXT,
        duration_ms INTEGER,
        stage INTEGER NOT NULL,
        holder TEXT,
        UNIQUE (task, run, kind, ordinal)
    );
    CREATE INDEX notices_open ON notices (session, at) WHERE stage IN (0, 2);
    CREATE TABLE turns (
        seq INTEGER PRIMARY KEY,
        session TEXT NOT NULL,
        turn TEXT NOT NULL
    );
    CREATE INDEX turns_by_session ON turns (session, seq);
    CREATE TABLE marks (
        name TEXT PRIMARY KEY,
        seq INTEGER NOT NULL
    ) WITHOUT ROWID;
    ",
];

/// Returns the schema a database has and the one this build knows.
pub(super) fn versions(connection: &Connection) -> Result<(u32, u32), StoreError> {
    Ok((version(connection)?, STEPS.len() as u32))
}

/// Tells whether a database has taken every step; refuses one that has taken more.
pub(super) fn is_current(connection: &Connection) -> Result<bool, StoreError> {
    let (found, known) = versions(connection)?;
    if found > known { Err(StoreError::Newer { found, known }) } else { Ok(found == known) }
}

impl Store {
    /// Takes the steps that are missing; `fill` gives a database made from nothing its tasks. All of it
    /// is one transaction: others see the old state or the whole new one.
    pub(crate) fn bring_up_to_date(
        &self,
        tasks_dir: &Path,
        fill: impl FnOnce(&Transaction<'_>) -> crate::Result<()>,
    ) -> crate::Result<()> {
        // Set once, for good; somebody else may be doing the same.
        while let Err(error) = self.connection.query_row("PRAGMA journal_mode=WAL", [], |_| Ok(())) {
            match error.sqlite_error_code() {
                Some(rusqlite::ErrorCode::DatabaseBusy) => std::thread::yield_now(),
                _ => return Err(StoreError::from(error).into()),
            }
        }
        let transaction = self.begin(tasks_dir)?;
        let taken = version(&transaction.inner)?;
        for step in STEPS.iter().skip(taken as usize) {
            transaction.inner.execute_batch(step).map_err(StoreError::from)?;
        }
        transaction
            .inner
            .pragma_update(None, "user_version", STEPS.len() as u32)
            .map_err(StoreError::from)?;
        if taken == 0 {
            fill(&transaction)?;
        }
        Ok(transaction.commit()?)
    }
}

fn version(connection: &Connection) -> Result<u32, StoreError> {
    Ok(connection.query_row("PRAGMA user_version", [], |row| row.get(0))?)
}
