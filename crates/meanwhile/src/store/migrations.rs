//! The schema, as a list of steps. A released step is never changed.

use rusqlite::{Connection, TransactionBehavior};

use super::error::StoreError;

/// One step per released schema; `user_version` counts the steps a database has taken.
const STEPS: [&str; 1] = [
    // `phase`: 0 waits for a slot, 1 holds one, 2 has ended. Numbers of a session's tasks rise with
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
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        task TEXT NOT NULL,
        run INTEGER NOT NULL,
        at INTEGER NOT NULL,
        event TEXT NOT NULL
    );
    CREATE TABLE cursors (
        reader TEXT NOT NULL,
        task TEXT NOT NULL,
        stream TEXT NOT NULL,
        run INTEGER NOT NULL,
        position INTEGER NOT NULL,
        PRIMARY KEY (reader, task, stream)
    ) WITHOUT ROWID;
    ",
];

/// Brings a database up to date; tells whether it was made from nothing.
pub(super) fn migrate(connection: &Connection) -> Result<bool, StoreError> {
    let known = STEPS.len() as u32;
    let taken = version(connection)?;
    if taken == known {
        return Ok(false);
    }
    if taken > known {
        return Err(StoreError::Newer { found: taken, known });
    }
    connection.query_row("PRAGMA journal_mode=WAL", [], |_| Ok(()))?;
    let transaction = rusqlite::Transaction::new_unchecked(connection, TransactionBehavior::Immediate)?;
    // Somebody else may have done it while we waited.
    let taken = version(&transaction)?;
    for step in STEPS.iter().skip(taken as usize) {
        transaction.execute_batch(step)?;
    }
    transaction.pragma_update(None, "user_version", known)?;
    transaction.commit()?;
    Ok(taken == 0)
}

fn version(connection: &Connection) -> Result<u32, StoreError> {
    Ok(connection.query_row("PRAGMA user_version", [], |row| row.get(0))?)
}
