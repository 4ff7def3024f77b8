//! Ended spans, and the state of their export.
//!
//! A span is stored once, in the transaction that records the event that ended it, and never changed. Spans to be
//! exported wait here until they are delivered: this is the exporter's outbox.

use mw_model::{SpanId, TaskId, TaskTrace, Timestamp, TraceId};
use rusqlite::params;
use serde::Serialize;

use super::connection::Store;
use super::error::StoreError;
use super::query::decoded;
use super::write::{HOLDS_SLOT, QUEUED, Transaction, json};
use crate::span::Span;
use crate::task::{Scope, Task};

/// Values of the column `stage`, which is 0 for a span that is not exported. An index contains the number.
const TO_EXPORT: i64 = 1;
const EXPORTED: i64 = 2;

/// The state of the export of spans.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ExportState {
    /// How many spans wait to be exported.
    pub waiting: u64,
    /// How many were exported so far.
    pub delivered: u64,
    /// How many the receiver rejected.
    pub rejected: u64,
    /// How many were dropped, because no receiver took them for too long and their tasks were removed.
    pub given_up: u64,
    /// The endpoint of the last try.
    pub endpoint: Option<String>,
    /// When the last try was.
    pub tried_at: Option<Timestamp>,
    /// The error of the last try.
    pub error: Option<String>,
    /// The number of failures in a row.
    pub failures: u32,
    /// When the next try is due.
    pub next_try_at: Option<Timestamp>,
}

impl Store {
    /// Returns the visible ended spans of a trace.
    pub(crate) fn spans_of_trace(&self, trace: TraceId, scope: &Scope) -> Result<Vec<Span>, StoreError> {
        let sql = "SELECT span FROM spans WHERE trace = ?1 AND (?2 IS NULL OR session = ?2 OR task IN \
                   (SELECT id FROM tasks WHERE session = ?2)) ORDER BY seq";
        self.rows(sql, params![trace.to_string(), scope.session()], |row| decoded(row, 0))
    }

    /// Returns the trace of an ended span, or of a span that is known only as a parent.
    pub(crate) fn trace_of_span(&self, span: SpanId) -> Result<Option<TraceId>, StoreError> {
        let mut found: Option<String> =
            self.first("SELECT trace FROM spans WHERE id = ?1", [span.to_string()])?;
        if found.is_none() {
            found = self.first("SELECT trace FROM spans WHERE parent = ?1 LIMIT 1", [span.to_string()])?;
        }
        Ok(found.and_then(|text| text.parse().ok()))
    }

    /// Returns the traces with the most recent ends, newest first.
    pub(crate) fn recent_traces(&self, scope: &Scope, most: u32) -> Result<Vec<TraceId>, StoreError> {
        let sql = "SELECT trace FROM spans WHERE ?1 IS NULL OR session = ?1 OR task IN \
                   (SELECT id FROM tasks WHERE session = ?1) GROUP BY trace ORDER BY max(seq) DESC LIMIT ?2";
        let found: Vec<String> = self.rows(sql, params![scope.session(), most], |row| Ok(row.get(0)?))?;
        Ok(found.iter().filter_map(|text| text.parse().ok()).collect())
    }

    /// Returns the visible live tasks, newest first.
    pub(crate) fn live(&self, scope: &Scope) -> Result<Vec<Task>, StoreError> {
        let rest = format!(
            "WHERE phase IN ({QUEUED}, {HOLDS_SLOT}) AND (?1 IS NULL OR session = ?1) ORDER BY seq DESC"
        );
        self.tasks_that(&rest, [scope.session()])
    }

    /// Returns spans that wait to be exported, oldest first.
    pub(crate) fn spans_waiting(&self, most: u32) -> Result<Vec<Span>, StoreError> {
        let sql = format!("SELECT span FROM spans WHERE stage = {TO_EXPORT} ORDER BY seq LIMIT ?1");
        self.rows(&sql, [most], |row| decoded(row, 0))
    }

    /// Returns the state of the export.
    pub(crate) fn export_state(&self) -> Result<ExportState, StoreError> {
        let sql = "SELECT delivered, rejected, given_up, endpoint, tried_at, error, failures, next_try_at FROM exports";
        let known = self.rows(sql, [], |row| {
            let count = |at| row.get::<_, i64>(at).map(|count| count as u64);
            Ok(ExportState {
                waiting: 0,
                delivered: count(0)?,
                rejected: count(1)?,
                given_up: count(2)?,
                endpoint: row.get(3)?,
                tried_at: row.get::<_, Option<i64>>(4)?.map(Timestamp::from_micros),
                error: row.get(5)?,
                failures: row.get(6)?,
                next_try_at: row.get::<_, Option<i64>>(7)?.map(Timestamp::from_micros),
            })
        });
        let waiting: i64 =
            self.value(&format!("SELECT count(*) FROM spans WHERE stage = {TO_EXPORT}"), [])?;
        Ok(ExportState { waiting: waiting as u64, ..known?.pop().unwrap_or_default() })
    }
}

impl Transaction<'_> {
    /// Stores an ended span. A span that is stored already stays as it is.
    pub(crate) fn enter_span(&self, span: &Span, trace: &TaskTrace) -> Result<(), StoreError> {
        let sql = "INSERT INTO spans (id, trace, parent, task, ended_at, span, stage) \
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT DO NOTHING";
        let (id, trace_id) = (span.span_id.to_string(), span.trace_id.to_string());
        let parent = span.parent_span_id.map(|id| id.to_string());
        let task = span.task.as_ref().map_or("", TaskId::as_str);
        let ended_at = span.ended_at.map(Timestamp::as_micros);
        let stage = if trace.is_exported() { TO_EXPORT } else { 0 };
        self.change(sql, params![id, trace_id, parent, task, ended_at, json(span)?, stage])
    }

    /// Stores a span of a session's own work.
    pub(crate) fn enter_own_span(
        &self,
        span: &Span,
        trace: &TaskTrace,
        session: &str,
    ) -> Result<(), StoreError> {
        self.enter_span(span, trace)?;
        self.change("UPDATE spans SET session = ?2 WHERE id = ?1", [&span.span_id.to_string(), session])
    }

    /// Removes spans of sessions' own work that ended before a time, except those still to be exported.
    pub(crate) fn forget_own_spans(&self, before: Timestamp) -> Result<(), StoreError> {
        let sql =
            format!("DELETE FROM spans WHERE session IS NOT NULL AND stage <> {TO_EXPORT} AND ended_at < ?1");
        self.change(&sql, [before.as_micros()])
    }

    /// Removes the spans of a task, except those still to be exported.
    pub(super) fn delete_delivered_spans(&self, task: &TaskId) -> Result<(), StoreError> {
        let sql = format!("DELETE FROM spans WHERE task = ?1 AND stage <> {TO_EXPORT}");
        self.change(&sql, [task.as_str()])
    }

    /// Removes all spans of a task that never existed.
    pub(crate) fn delete_spans(&self, task: &TaskId) -> Result<(), StoreError> {
        self.change("DELETE FROM spans WHERE task = ?1", [task.as_str()])
    }

    /// Records that spans were exported. Spans of removed tasks are deleted.
    pub(crate) fn spans_delivered(&self, spans: &[Span]) -> Result<(), StoreError> {
        let gone = "DELETE FROM spans WHERE id = ?1 AND session IS NULL AND \
                    NOT EXISTS (SELECT 1 FROM tasks WHERE id = spans.task)";
        let exported = format!("UPDATE spans SET stage = {EXPORTED} WHERE id = ?1");
        for span in spans {
            let id = span.span_id.to_string();
            self.change(&exported, [&id])?;
            self.change(gone, [&id])?;
        }
        Ok(())
    }

    /// Drops spans that ended before a time and whose tasks were removed. Returns how many.
    pub(crate) fn give_up_spans(&self, before: Timestamp) -> Result<u64, StoreError> {
        let sql = format!(
            "DELETE FROM spans WHERE stage = {TO_EXPORT} AND ended_at < ?1 AND \
             NOT EXISTS (SELECT 1 FROM tasks WHERE id = spans.task)"
        );
        Ok(self.count_changed(&sql, [before.as_micros()])? as u64)
    }

    /// Stores the state of the export. The number of waiting spans is counted, not stored.
    pub(crate) fn set_export_state(&self, state: &ExportState) -> Result<(), StoreError> {
        let sql = "INSERT INTO exports (one, delivered, rejected, given_up, endpoint, tried_at, error, failures, \
                   next_try_at) VALUES (1, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT DO UPDATE SET delivered = ?1, \
                   rejected = ?2, given_up = ?3, endpoint = ?4, tried_at = ?5, error = ?6, failures = ?7, next_try_at = ?8";
        self.change(
            sql,
            params![
                state.delivered as i64,
                state.rejected as i64,
                state.given_up as i64,
                state.endpoint,
                state.tried_at.map(Timestamp::as_micros),
                state.error,
                state.failures,
                state.next_try_at.map(Timestamp::as_micros),
            ],
        )
    }
}
