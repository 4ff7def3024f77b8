//! The schema, as a list of steps. A released step never changes.

use std::time::{Duration, Instant};

use rusqlite::Connection;

use super::connection::{Store, wait_for_writer};
use super::error::StoreError;
use super::write::Transaction;

/// One step per released schema. `user_version` counts the steps that a database has taken.
const STEPS: [&str; 12] = [
    // The newest event is never deleted, so its number is not reused. `phase`: 0 is queued, 1 holds a slot, 2 has
    // ended. Numbers of a session's tasks rise with `seq`, so the index on them also lists a session in order.
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
    // `stage`: 0 is to be delivered, 1 need not be (the owner knows), 2 was delivered to `holder`, 3 was
    // acknowledged, 4 is reserved by `holder` (step 3). `ordinal` distinguishes the stalls of one run.
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
    // `stage` of a span: 0 is not exported, 1 is to be exported, 2 was exported. `exports` has at most one row.
    "
    ALTER TABLE tasks ADD COLUMN trace TEXT;
    CREATE TABLE spans (
        seq INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        trace TEXT NOT NULL,
        parent TEXT,
        task TEXT NOT NULL,
        ended_at INTEGER,
        span TEXT NOT NULL,
        stage INTEGER NOT NULL
    );
    CREATE INDEX spans_by_trace ON spans (trace, seq);
    CREATE INDEX spans_by_task ON spans (task);
    CREATE INDEX spans_waiting ON spans (seq) WHERE stage = 1;
    CREATE TABLE exports (
        one INTEGER PRIMARY KEY,
        delivered INTEGER NOT NULL,
        rejected INTEGER NOT NULL,
        given_up INTEGER NOT NULL,
        endpoint TEXT,
        tried_at INTEGER,
        error TEXT,
        failures INTEGER NOT NULL,
        next_try_at INTEGER
    );
    DROP INDEX notices_open;
    CREATE INDEX notices_open ON notices (session, at) WHERE stage IN (0, 2, 4);
    ",
    // `word` is a one-word summary of `state`.
    "
    CREATE TABLE approvals (
        seq INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        session TEXT NOT NULL,
        digest TEXT NOT NULL,
        at INTEGER NOT NULL,
        word TEXT NOT NULL,
        proposal TEXT NOT NULL,
        state TEXT NOT NULL,
        attempts TEXT
    );
    CREATE INDEX approvals_by_digest ON approvals (session, digest, seq);
    CREATE INDEX approvals_unfinished ON approvals (seq) WHERE word IN ('open', 'approved');
    ",
    // A span belongs to a task, or to the session that did the work itself.
    "
    ALTER TABLE spans ADD COLUMN session TEXT;
    CREATE INDEX spans_of_sessions ON spans (session) WHERE session IS NOT NULL;
    ",
    // The handle of a task: its dialect, and its number among the background tasks of its context or session. Earlier
    // builds numbered all tasks of a session together. `hook_calls`: hook calls of removed tasks.
    "
    ALTER TABLE tasks ADD COLUMN dialect TEXT;
    ALTER TABLE tasks ADD COLUMN context TEXT;
    ALTER TABLE tasks ADD COLUMN handle_number INTEGER;
    ALTER TABLE tasks ADD COLUMN foreground INTEGER NOT NULL DEFAULT 0;
    UPDATE tasks SET handle_number = number;
    CREATE INDEX tasks_by_handle ON tasks (session, handle_number);
    CREATE TABLE hook_calls (
        seq INTEGER PRIMARY KEY,
        call TEXT NOT NULL
    );
    ",
    // The limits that apply to a queued task. Tasks of earlier builds have them in their specs, or have none.
    "
    ALTER TABLE tasks ADD COLUMN queue TEXT;
    ",
    // A page far down the list is reached through this index: the rows before it are not read.
    "
    CREATE INDEX tasks_by_phase ON tasks (phase, seq, session);
    ",
    // The number of a session's tasks, so that a list can say how many there are without reading them.
    "
    ALTER TABLE sessions ADD COLUMN tasks INTEGER NOT NULL DEFAULT 0;
    UPDATE sessions SET tasks = (SELECT count(*) FROM tasks WHERE session = sessions.id);
    INSERT INTO sessions (id, last_number, tasks)
        SELECT session, max(number), count(*) FROM tasks
        WHERE session NOT IN (SELECT id FROM sessions) GROUP BY session;
    CREATE TRIGGER task_added AFTER INSERT ON tasks BEGIN
        INSERT INTO sessions (id, last_number, tasks) VALUES (new.session, new.number, 1)
            ON CONFLICT (id) DO UPDATE SET tasks = tasks + 1;
    END;
    CREATE TRIGGER task_removed AFTER DELETE ON tasks BEGIN
        UPDATE sessions SET tasks = tasks - 1 WHERE id = old.session;
    END;
    CREATE TRIGGER task_reassigned AFTER UPDATE OF session ON tasks BEGIN
        UPDATE sessions SET tasks = tasks - 1 WHERE id = old.session;
        INSERT INTO sessions (id, last_number, tasks) VALUES (new.session, new.number, 1)
            ON CONFLICT (id) DO UPDATE SET tasks = tasks + 1;
    END;
    ",
    // The place of a queued task among those of its priority: lower first.
    "
    ALTER TABLE tasks ADD COLUMN rank INTEGER NOT NULL DEFAULT 0;
    DROP INDEX tasks_waiting;
    CREATE INDEX tasks_waiting ON tasks (session, priority DESC, rank, seq) WHERE phase = 0;
    ",
    // The schedule of a task, and the time before which a queued one does not start.
    "
    ALTER TABLE tasks ADD COLUMN schedule TEXT;
    ALTER TABLE tasks ADD COLUMN not_before INTEGER;
    CREATE INDEX tasks_due ON tasks (not_before) WHERE phase = 0 AND not_before IS NOT NULL;
    ",
    // Which kinds of tasks are queued, and with which limits, is known without reading them all.
    "
    CREATE INDEX tasks_limits ON tasks (session, kind = 'agent', ifnull(queue, '')) WHERE phase = 0;
    ",
];

/// How long a new database may be busy before it counts as emptied.
const TIMEOUT: Duration = Duration::from_secs(3);

/// Returns the schema of a database and the schema of this build.
pub(super) fn versions(connection: &Connection) -> Result<(u32, u32), StoreError> {
    Ok((version(connection)?, STEPS.len() as u32))
}

/// Returns whether a database has taken every step. Refuses one that has taken more.
pub(super) fn is_current(connection: &Connection) -> Result<bool, StoreError> {
    let (found, known) = versions(connection)?;
    if found > known { Err(StoreError::Newer { found, known }) } else { Ok(found == known) }
}

impl Store {
    /// Takes the missing steps. `fill` adds the tasks to a new database. All of it is one transaction, so other
    /// processes see the old state or the complete new one.
    pub(crate) fn bring_up_to_date(
        &mut self,
        fill: impl FnOnce(&Transaction<'_>) -> crate::Result<()>,
    ) -> crate::Result<()> {
        let begun = Instant::now();
        self.connection.busy_handler(None::<fn(i32) -> bool>).map_err(StoreError::from)?;
        // This is set once and stays set. Another process may be doing the same.
        while let Err(error) = self.connection.query_row("PRAGMA journal_mode=WAL", [], |_| Ok(())) {
            match error.sqlite_error_code() {
                Some(rusqlite::ErrorCode::DatabaseBusy) if begun.elapsed() < TIMEOUT => {
                    std::thread::sleep(Duration::from_millis(1));
                }
                _ => return Err(StoreError::from(error).into()),
            }
        }
        self.connection.busy_handler(Some(wait_for_writer)).map_err(StoreError::from)?;
        let transaction = self.begin()?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::store::Opened;

    #[test]
    fn tasks_of_every_earlier_schema_are_readable_after_migration() {
        for taken in 1..STEPS.len() {
            let directory = std::env::temp_dir().join(format!("mw-schema-{taken}-{}", std::process::id()));
            std::fs::create_dir_all(&directory).unwrap();
            let path = directory.join("meanwhile.db");
            let Ok(Opened::Behind(Store { connection: old, .. }, _)) = Store::open(&path) else {
                panic!("an empty database counts as current")
            };
            STEPS.iter().take(taken).for_each(|step| old.execute_batch(step).unwrap());
            old.pragma_update(None, "user_version", taken as u32).unwrap();
            let row = "INSERT INTO tasks (id, kind, session, number, command, cwd, lifetime, priority, created_at, \
                       approved_by, approved_at, phase, status, state) VALUES ('bash-k3f9x2ab', 'shell', 'default', 1, \
                       'true', '/', 'session', 0, 1, 'user', 1, 0, 'pending', \
                       '{\"state\":\"pending\",\"run\":1,\"origin\":\"first\"}')";
            old.execute_batch(row).unwrap();
            drop(old);
            let Ok(Opened::Behind(mut store, _)) = Store::open(&path) else {
                panic!("schema {taken} counts as current")
            };
            store.bring_up_to_date(|_| panic!("only a new database is filled")).unwrap();
            let task = store.task(&"bash-k3f9x2ab".parse().unwrap()).unwrap().unwrap();
            assert_eq!((task.command.as_str(), task.trace), ("true", None));
            assert!(is_current(&store.connection).unwrap());
            std::fs::remove_dir_all(directory).unwrap();
        }
    }
}
