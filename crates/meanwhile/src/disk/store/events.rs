//! The event stream.

use mw_model::{Event, TaskId, Timestamp};
use rusqlite::params;
use serde::Serialize;

use super::connection::Store;
use super::error::StoreError;
use super::filter::IS_KEEPER;
use super::query::{decoded, task_id};
use super::write::{Transaction, json};
use crate::task::Scope;

/// An event with its position in the stream.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct TaskEvent {
    /// The position in the stream. It rises and is never reused.
    pub seq: i64,
    /// When it happened.
    pub at: Timestamp,
    /// The task.
    pub task: TaskId,
    /// The run.
    pub run: u32,
    /// The event.
    #[serde(flatten)]
    pub event: Event,
}

/// The mark above which events are numbered.
const BEGIN: &str = "events";

/// A change without effect; see [`Transaction::mark_log`].
pub(super) const MARK_LOG: &str =
    "INSERT INTO marks (name, seq) VALUES ('log', 1) ON CONFLICT DO UPDATE SET seq = seq + 1";

impl Store {
    /// Returns events after a position in the stream, oldest first. Events of tasks that keep agents alive are
    /// returned only if the task or its session is named.
    pub(crate) fn events_after(
        &self,
        seq: i64,
        scope: &Scope,
        task: Option<&TaskId>,
        most: u32,
    ) -> Result<Vec<TaskEvent>, StoreError> {
        let shown = format!(
            " AND (?2 IS NOT NULL OR ?3 IS NOT NULL OR \
             NOT EXISTS (SELECT 1 FROM tasks WHERE id = events.task AND {IS_KEEPER}))"
        );
        self.events(seq, scope, task, most, &shown)
    }

    /// Returns all events after a position in the stream, oldest first.
    pub(crate) fn all_events_after(&self, seq: i64, most: u32) -> Result<Vec<TaskEvent>, StoreError> {
        self.events(seq, &Scope::All, None, most, "")
    }

    fn events(
        &self,
        seq: i64,
        scope: &Scope,
        task: Option<&TaskId>,
        most: u32,
        condition: &str,
    ) -> Result<Vec<TaskEvent>, StoreError> {
        let sql = format!(
            "SELECT seq, at, task, run, event FROM events WHERE seq > ?1 AND (?2 IS NULL OR task = ?2) \
             AND (?3 IS NULL OR task IN (SELECT id FROM tasks WHERE session = ?3)){condition} ORDER BY seq LIMIT ?4",
        );
        self.rows(&sql, params![seq, task.map(TaskId::as_str), scope.session(), most], |row| {
            Ok(TaskEvent {
                seq: row.get(0)?,
                at: Timestamp::from_micros(row.get(1)?),
                task: task_id(row, 2)?,
                run: row.get(3)?,
                event: decoded(row, 4)?,
            })
        })
    }

    /// Returns a reader's position in the stream.
    pub(crate) fn mark(&self, name: &str) -> Result<i64, StoreError> {
        Ok(self.first("SELECT seq FROM marks WHERE name = ?1", [name])?.unwrap_or(0))
    }

    /// Returns the position of the newest event.
    pub(crate) fn last_event(&self) -> Result<i64, StoreError> {
        self.value("SELECT coalesce(max(seq), 0) FROM events", [])
    }

    /// Returns whether hook calls of removed tasks are stored.
    pub(crate) fn any_hook_calls(&self) -> Result<bool, StoreError> {
        self.value("SELECT EXISTS (SELECT 1 FROM hook_calls)", [])
    }
}

impl Transaction<'_> {
    /// Adds an event to the stream.
    pub(super) fn append_event(
        &self,
        id: &TaskId,
        run: u32,
        at: Timestamp,
        event: &Event,
    ) -> Result<(), StoreError> {
        // With `INSERT … SELECT` from the same table, SQLite would first copy the row to a temporary table.
        let sql = "INSERT INTO events (seq, task, run, at, event) VALUES (1 + max(\
                   (SELECT coalesce(max(seq), 0) FROM events), \
                   (SELECT coalesce(max(seq), 0) FROM marks WHERE name = ?5)), ?1, ?2, ?3, ?4)";
        self.change(sql, params![id.as_str(), run, at.as_micros(), json(event)?, BEGIN])
    }

    /// Stores the hook call of an event whose task is removed.
    pub(crate) fn keep_hook_call(&self, seq: i64, call: &str) -> Result<(), StoreError> {
        let sql = "INSERT INTO hook_calls (seq, call) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
        self.change(sql, params![seq, call])
    }

    /// Removes and returns all stored hook calls, in the order of the events.
    pub(crate) fn take_hook_calls(&self) -> Result<Vec<(i64, String)>, StoreError> {
        let sql = "SELECT seq, call FROM hook_calls ORDER BY seq";
        let kept = self.rows(sql, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
        self.change("DELETE FROM hook_calls", [])?;
        Ok(kept)
    }

    /// Numbers all further events above a position.
    pub(crate) fn number_events_after(&self, seq: i64) -> Result<(), StoreError> {
        self.set_mark(BEGIN, seq)
    }

    /// Stores a reader's position in the stream.
    pub(crate) fn set_mark(&self, name: &str, seq: i64) -> Result<(), StoreError> {
        let sql =
            "INSERT INTO marks (name, seq) VALUES (?1, ?2) ON CONFLICT DO UPDATE SET seq = max(seq, ?2)";
        self.change(sql, params![name, seq])
    }

    /// Writes something to the log, because it must not be empty.
    pub(crate) fn mark_log(&self) -> Result<(), StoreError> {
        self.change(MARK_LOG, [])
    }
}
