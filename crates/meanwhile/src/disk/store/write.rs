//! Changes: each is an event and the resulting state, in one transaction.

use std::ops::Deref;

use mw_model::{Event, RunOrigin, TaskId, TaskState, Timestamp, next_state};
use rusqlite::{TransactionBehavior, params};

use super::connection::Store;
use super::damage::Shared;
use super::error::StoreError;
use super::notices::Stage;
use super::writer_turn::WriterTurn;
use crate::task::{Change, Task};

/// A write transaction. If it is dropped without [`Transaction::commit`], nothing is changed.
pub(crate) struct Transaction<'store> {
    store: &'store Store,
    pub(super) inner: rusqlite::Transaction<'store>,
    /// Keeps the file from being replaced until the transaction ends.
    _held: Option<Shared<'store>>,
    /// Absent for a database in memory, which no other thread uses, and if the turn did not come in time.
    _turn: Option<WriterTurn>,
}

impl Store {
    /// Begins a transaction, waiting for other writers. Refused if the database was replaced.
    pub(crate) fn begin(&self) -> Result<Transaction<'_>, StoreError> {
        let turn = self.is_on_disk().then(WriterTurn::take).flatten();
        let held = self.hold()?;
        let inner = rusqlite::Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)?;
        Ok(Transaction { store: self, inner, _held: held, _turn: turn })
    }
}

/// A transaction reads what its store reads, on the same connection.
impl Deref for Transaction<'_> {
    type Target = Store;

    fn deref(&self) -> &Store {
        self.store
    }
}

/// The values of the column `phase`, in the order of a task's life. Indexes contain the numbers.
pub(super) const QUEUED: i64 = 0;
pub(super) const HOLDS_SLOT: i64 = 1;
pub(super) const ENDED: i64 = 2;

const fn phase(state: &TaskState) -> i64 {
    match state {
        TaskState::Pending { .. } => QUEUED,
        TaskState::Starting { .. } | TaskState::Running { .. } | TaskState::Cancelling { .. } => HOLDS_SLOT,
        TaskState::Ended { .. } => ENDED,
    }
}

pub(super) fn json(value: &impl serde::Serialize) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|error| StoreError::Corrupt(error.to_string()))
}

impl Transaction<'_> {
    /// Commits the transaction.
    pub(crate) fn commit(self) -> Result<(), StoreError> {
        Ok(self.inner.commit()?)
    }

    /// Assigns the number that a task was given at its start, or the next one if it is taken.
    pub(crate) fn take_number(&self, session: &str, given: u64) -> Result<u64, StoreError> {
        let sql = "SELECT EXISTS (SELECT 1 FROM tasks WHERE session = ?1 AND number = ?2)";
        let taken: bool = self.value(sql, params![session, given as i64])?;
        let wanted = if taken { 0 } else { given as i64 };
        // `RETURNING` would need a temporary table.
        let sql = "INSERT INTO sessions (id, last_number) VALUES (?1, max(1, ?2)) ON CONFLICT (id) DO UPDATE \
                   SET last_number = iif(?2 = 0, last_number + 1, max(last_number, ?2))";
        self.change(sql, params![session, wanted])?;
        if !taken {
            return Ok(given);
        }
        let last: i64 = self.value("SELECT last_number FROM sessions WHERE id = ?1", [session])?;
        Ok(last as u64)
    }

    /// Adds a task in its current state.
    pub(crate) fn insert(&self, task: &Task) -> Result<(), StoreError> {
        self.change(
            "INSERT INTO tasks (id, kind, session, number, name, description, command, cwd, batch, lifetime, priority, after, \
             deadline, created_at, approved_by, approved_at, phase, status, state, trace, resume_count, dialect, context, \
             handle_number, foreground, queue, rank, schedule, not_before) \
             VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16,?17,?18,?19,?20,?21,?22,?23,?24,?25,?26,?27,?28,?29)",
            params![
            task.id.as_str(),
            task.kind.word(),
            task.session,
            task.number as i64,
            task.name,
            task.description,
            task.command,
            task.cwd,
            task.batch_id,
            task.lifetime.word(),
            task.priority,
            if task.after.is_empty() { None } else { Some(json(&task.after)?) },
            task.deadline.map(Timestamp::as_micros),
            task.created_at.as_micros(),
            task.approved_by,
            task.approved_at.as_micros(),
            phase(&task.state),
            task.status.word(),
            json(&task.state)?,
            task.trace.as_ref().map(json).transpose()?,
            task.resume_count,
            (!task.dialect.is_canonical()).then(|| task.dialect.name()),
            task.context,
            task.handle_number.map(|number| number as i64),
            task.foreground,
            task.queue.as_ref().map(json).transpose()?,
            task.rank,
            task.schedule.as_ref().map(json).transpose()?,
            task.state.not_before().map(Timestamp::as_micros),
        ])
    }

    /// Adds a task that gets its slot at once, with one write instead of two.
    pub(crate) fn insert_reserved(&self, task: &mut Task, at: Timestamp) -> Result<(), StoreError> {
        let event = Event::Reserved { since: at };
        let state = next_state(&task.state, &event)?;
        task.set_state(state);
        self.insert(task)?;
        self.append_event(&task.id, task.state.run(), at, &event)
    }

    /// Appends an event and updates the task to the resulting state. Refuses an event that cannot follow.
    pub(crate) fn apply_event(
        &self,
        task: &mut Task,
        event: &Event,
        at: Timestamp,
        change: Change,
    ) -> Result<(), StoreError> {
        let next = next_state(&task.state, event)?;
        self.append_event(&task.id, next.run(), at, event)?;
        if matches!(event, Event::Requeued { .. }) {
            (task.duration_ms, task.output_bytes, task.dropped_bytes, task.survivors) = (None, 0, 0, 0);
        }
        if matches!(event, Event::Requeued { origin: RunOrigin::Resume, .. }) {
            task.resume_count += 1;
        }
        task.set_state(next);
        task.change(change);
        self.save(task)
    }

    /// Moves a task to another session, with what its owner knows and its pending notifications. A reservation ends, because its
    /// holder replied to the old owner. The new owner gets the usual notification.
    pub(crate) fn set_owner(&self, task: &Task) -> Result<(), StoreError> {
        let id = task.id.as_str();
        let number = task.number as i64;
        let handle_number = task.handle_number.map(|number| number as i64);
        let sql = "UPDATE tasks SET session = ?2, number = ?3, handle_number = ?4 WHERE id = ?1";
        self.change(sql, params![id, task.session, number, handle_number])?;
        let sql = "UPDATE notices SET session = ?2, holder = iif(stage = ?3, NULL, holder), \
                   stage = iif(stage = ?3, ?4, stage) WHERE task = ?1 AND stage <> ?5";
        let (reserved, waiting, closed) = (Stage::Reserved, Stage::Waiting, Stage::Closed);
        self.change(sql, params![id, task.session, reserved, waiting, closed])
    }

    /// Sets the short handle's number of a task that was started in the foreground.
    pub(crate) fn set_handle_number(&self, task: &Task) -> Result<(), StoreError> {
        let number = task.handle_number.map(|number| number as i64);
        let sql = "UPDATE tasks SET handle_number = ?2, foreground = ?3 WHERE id = ?1";
        self.change(sql, params![task.id.as_str(), number, task.foreground])
    }

    /// Writes the cached state of a task.
    fn save(&self, task: &Task) -> Result<(), StoreError> {
        self.change(
            "UPDATE tasks SET phase = ?2, status = ?3, state = ?4, pid = ?5, duration_ms = ?6, output_bytes = ?7, \
             dropped_bytes = ?8, survivors = ?9, resume_count = ?10, journal_seen = ?11, not_before = ?12 WHERE id = ?1",
            params![
            task.id.as_str(),
            phase(&task.state),
            task.status.word(),
            json(&task.state)?,
            task.pid,
            task.duration_ms.map(|ms| ms as i64),
            task.output_bytes as i64,
            task.dropped_bytes as i64,
            task.survivors,
            task.resume_count,
            task.journal_seen as i64,
            task.state.not_before().map(Timestamp::as_micros),
        ])
    }

    /// Removes tasks, their events, cursors, notifications and spans. Spans that are still to be exported stay.
    pub(crate) fn delete_all(&self, ids: &[TaskId]) -> Result<(), StoreError> {
        let all = json(&ids)?;
        for sql in [
            "DELETE FROM tasks WHERE id IN (SELECT value FROM json_each(?1))",
            "DELETE FROM events WHERE task IN (SELECT value FROM json_each(?1)) \
             AND seq < (SELECT max(seq) FROM events)",
            "DELETE FROM cursors WHERE task IN (SELECT value FROM json_each(?1))",
            "DELETE FROM notices WHERE task IN (SELECT value FROM json_each(?1))",
        ] {
            self.change(sql, [&all])?;
        }
        ids.iter().try_for_each(|id| self.delete_delivered_spans(id))
    }

    /// Records how many lines of a task's journal are in the database.
    pub(crate) fn set_journal_seen(&self, id: &TaskId, lines: u64) -> Result<(), StoreError> {
        let sql = "UPDATE tasks SET journal_seen = ?2 WHERE id = ?1";
        self.change(sql, params![id.as_str(), lines as i64])
    }
}
