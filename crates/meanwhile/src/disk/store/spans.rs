//! Ended spans, and the state of their export.
//!
//! A span is stored once, in the transaction that records the event that ended it, and never changed. Spans to be
//! exported wait here until they are delivered: this is the exporter's outbox.

use mw_model::{SpanId, TaskId, TaskTrace, Timestamp, TraceId};
use rusqlite::{OptionalExtension, Params, Row, params};
use serde::Serialize;

use super::connection::Store;
use super::error::StoreError;
use super::rows;
use super::write::{Transaction, json};
use crate::span::Span;
use crate::task::{Scope, Task};

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

fn read_span(row: &Row<'_>) -> Result<Span, StoreError> {
    let text: String = row.get(0)?;
    serde_json::from_str(&text).map_err(|error| StoreError::Corrupt(error.to_string()))
}

impl Store {
    fn spans(&self, sql: &str, values: impl Params) -> Result<Vec<Span>, StoreError> {
        let mut query = self.connection.prepare_cached(sql)?;
        let mut rows = query.query(values)?;
        let mut spans = Vec::new();
        while let Some(row) = rows.next()? {
            spans.push(read_span(row)?);
        }
        Ok(spans)
    }

    /// Returns the visible ended spans of a trace.
    pub(crate) fn spans_of_trace(&self, trace: TraceId, scope: &Scope) -> Result<Vec<Span>, StoreError> {
        let sql = "SELECT span FROM spans WHERE trace = ?1 AND (?2 IS NULL OR session = ?2 OR task IN \
                   (SELECT id FROM tasks WHERE session = ?2)) ORDER BY seq";
        self.spans(sql, params![trace.to_string(), session(scope)])
    }

    /// Returns the trace of an ended span, or of a span that is known only as a parent.
    pub(crate) fn trace_of_span(&self, span: SpanId) -> Result<Option<TraceId>, StoreError> {
        let look = |sql: &str| {
            self.connection.query_row(sql, [span.to_string()], |row| row.get::<_, String>(0)).optional()
        };
        let found = match look("SELECT trace FROM spans WHERE id = ?1")? {
            Some(found) => Some(found),
            None => look("SELECT trace FROM spans WHERE parent = ?1 LIMIT 1")?,
        };
        Ok(found.and_then(|text| text.parse().ok()))
    }

    /// Returns the traces with the most recent ends, newest first.
    pub(crate) fn recent_traces(&self, scope: &Scope, most: u32) -> Result<Vec<TraceId>, StoreError> {
        let sql = "SELECT trace FROM spans WHERE ?1 IS NULL OR session = ?1 OR task IN \
                   (SELECT id FROM tasks WHERE session = ?1) GROUP BY trace ORDER BY max(seq) DESC LIMIT ?2";
        let mut query = self.connection.prepare_cached(sql)?;
        let found = query.query_map(params![session(scope), most], |row| row.get::<_, String>(0))?;
        Ok(found.collect::<Result<Vec<_>, _>>()?.iter().filter_map(|text| text.parse().ok()).collect())
    }

    /// Returns the visible live tasks, newest first.
    pub(crate) fn live(&self, scope: &Scope) -> Result<Vec<Task>, StoreError> {
        let sql = format!(
            "SELECT {} FROM tasks WHERE phase IN (0, 1) AND (?1 IS NULL OR session = ?1) ORDER BY seq DESC",
            rows::COLUMNS
        );
        let mut query = self.connection.prepare_cached(&sql)?;
        let found = query.query_map(params![session(scope)], |row| rows::task(row, &self.tasks_dir))?;
        Ok(found.collect::<Result<_, _>>()?)
    }

    /// Returns spans that wait to be exported, oldest first.
    pub(crate) fn spans_waiting(&self, most: u32) -> Result<Vec<Span>, StoreError> {
        self.spans("SELECT span FROM spans WHERE stage = 1 ORDER BY seq LIMIT ?1", [most])
    }

    /// Returns the state of the export.
    pub(crate) fn export_state(&self) -> Result<ExportState, StoreError> {
        let sql = "SELECT delivered, rejected, given_up, endpoint, tried_at, error, failures, next_try_at FROM exports";
        let known = self.connection.query_row(sql, [], |row| {
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
            self.connection.query_row("SELECT count(*) FROM spans WHERE stage = 1", [], |row| row.get(0))?;
        Ok(ExportState { waiting: waiting as u64, ..known.optional()?.unwrap_or_default() })
    }
}

fn session(scope: &Scope) -> Option<&str> {
    match scope {
        Scope::All => None,
        Scope::Session(session) => Some(session),
    }
}

impl Transaction<'_> {
    /// Stores an ended span. A span that is stored already stays as it is.
    pub(crate) fn enter_span(&self, span: &Span, trace: &TaskTrace) -> Result<(), StoreError> {
        let mut insert = self.inner.prepare_cached(
            "INSERT INTO spans (id, trace, parent, task, ended_at, span, stage) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) \
             ON CONFLICT DO NOTHING",
        )?;
        insert.execute(params![
            span.span_id.to_string(),
            span.trace_id.to_string(),
            span.parent_span_id.map(|id| id.to_string()),
            span.task.as_ref().map_or("", TaskId::as_str),
            span.ended_at.map(Timestamp::as_micros),
            json(span)?,
            i64::from(trace.is_exported()),
        ])?;
        Ok(())
    }

    /// Stores a span of a session's own work.
    pub(crate) fn enter_own_span(
        &self,
        span: &Span,
        trace: &TaskTrace,
        session: &str,
    ) -> Result<(), StoreError> {
        self.enter_span(span, trace)?;
        let whose = "UPDATE spans SET session = ?2 WHERE id = ?1";
        self.inner.prepare_cached(whose)?.execute(params![span.span_id.to_string(), session])?;
        Ok(())
    }

    /// Removes spans of sessions' own work that ended before a time, except those still to be exported.
    pub(crate) fn forget_own_spans(&self, before: Timestamp) -> Result<(), StoreError> {
        let sql = "DELETE FROM spans WHERE session IS NOT NULL AND stage <> 1 AND ended_at < ?1";
        self.inner.execute(sql, [before.as_micros()])?;
        Ok(())
    }

    /// Records that spans are waiting that no supervisor will export at its end.
    pub(crate) fn call_deliverer(&self) {
        self.spans_wait.set(true);
    }

    /// Removes the spans of a task, except those still to be exported.
    pub(super) fn delete_delivered_spans(&self, task: &TaskId) -> Result<(), StoreError> {
        self.inner.execute("DELETE FROM spans WHERE task = ?1 AND stage <> 1", [task.as_str()])?;
        Ok(())
    }

    /// Removes all spans of a task that never existed.
    pub(crate) fn delete_spans(&self, task: &TaskId) -> Result<(), StoreError> {
        self.inner.execute("DELETE FROM spans WHERE task = ?1", [task.as_str()])?;
        Ok(())
    }

    /// Records that spans were exported. Spans of removed tasks are deleted.
    pub(crate) fn spans_delivered(&self, spans: &[Span]) -> Result<(), StoreError> {
        let mut done = self.inner.prepare_cached("UPDATE spans SET stage = 2 WHERE id = ?1")?;
        let mut gone = self.inner.prepare_cached(
            "DELETE FROM spans WHERE id = ?1 AND session IS NULL AND \
             NOT EXISTS (SELECT 1 FROM tasks WHERE id = spans.task)",
        )?;
        for span in spans {
            let id = span.span_id.to_string();
            done.execute([&id])?;
            gone.execute([&id])?;
        }
        Ok(())
    }

    /// Drops spans that ended before a time and whose tasks were removed. Returns how many.
    pub(crate) fn give_up_spans(&self, before: Timestamp) -> Result<u64, StoreError> {
        let sql = "DELETE FROM spans WHERE stage = 1 AND ended_at < ?1 AND \
                   NOT EXISTS (SELECT 1 FROM tasks WHERE id = spans.task)";
        Ok(self.inner.execute(sql, [before.as_micros()])? as u64)
    }

    /// Stores the state of the export. The number of waiting spans is counted, not stored.
    pub(crate) fn set_export_state(&self, state: &ExportState) -> Result<(), StoreError> {
        let sql = "INSERT INTO exports (one, delivered, rejected, given_up, endpoint, tried_at, error, failures, \
                   next_try_at) VALUES (1, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT DO UPDATE SET delivered = ?1, \
                   rejected = ?2, given_up = ?3, endpoint = ?4, tried_at = ?5, error = ?6, failures = ?7, next_try_at = ?8";
        self.inner.execute(
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
        )?;
        Ok(())
    }
}
