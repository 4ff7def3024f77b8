//! Reads tasks, using only indexes.

use std::path::Path;

use mw_model::{TaskId, Timestamp};
use rusqlite::{Connection, OptionalExtension};

use super::connection::Store;
use super::error::StoreError;
use super::filter::IS_KEEPER;
use super::notices::IS_OPEN;
use super::rows;
use super::write::Transaction;
use crate::task::Task;

/// The total size of the finished tasks.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Totals {
    pub(crate) count: u64,
    pub(crate) output_bytes: u64,
}

/// A finished task that may be removed.
pub(crate) struct Ended {
    pub(crate) id: TaskId,
    pub(crate) ended_at: Timestamp,
    pub(crate) output_bytes: u64,
}

pub(super) fn task_sql() -> String {
    format!("SELECT {} FROM tasks WHERE id = ?1", rows::COLUMNS)
}

pub(super) fn unsettled_sql() -> String {
    format!(
        "SELECT {0} FROM tasks WHERE phase = 1 UNION ALL SELECT {0} FROM tasks WHERE survivors > 0 AND phase = 2",
        rows::COLUMNS
    )
}

pub(super) const ANY_WAITING: &str = "SELECT EXISTS (SELECT 1 FROM tasks WHERE phase = 0)";
pub(super) const QUEUE_POSITION: &str = "SELECT 1 + count(*) FROM tasks WHERE phase = 0 AND session = ?1 AND \
                              (priority > ?2 OR (priority = ?2 AND seq < (SELECT seq FROM tasks WHERE id = ?3)))";

/// Reads the highest task number on a connection, with or without a transaction.
pub(super) fn last_number(connection: &Connection, session: &str) -> Result<u64, StoreError> {
    let sql = "SELECT last_number FROM sessions WHERE id = ?1";
    let last: Option<i64> = connection.query_row(sql, [session], |row| row.get(0)).optional()?;
    Ok(last.unwrap_or(0) as u64)
}

/// Reads the highest handle number on a connection, with or without a transaction.
pub(super) fn last_handle_number(
    connection: &Connection,
    session: &str,
    context: Option<&str>,
) -> Result<u64, StoreError> {
    let sql = "SELECT max(handle_number) FROM tasks WHERE session = ?1 AND context IS ?2";
    let last: Option<i64> =
        connection.query_row(sql, rusqlite::params![session, context], |row| row.get(0))?;
    Ok(last.unwrap_or(0) as u64)
}

/// Reads the unsettled tasks on a connection, with or without a transaction.
pub(super) fn unsettled(connection: &Connection, tasks_dir: &Path) -> Result<Vec<Task>, StoreError> {
    let mut query = connection.prepare_cached(&unsettled_sql())?;
    let found = query.query_map([], |row| rows::task(row, tasks_dir))?;
    Ok(found.collect::<Result<_, _>>()?)
}

/// The most important columns of a task.
pub(crate) struct Outline {
    pub(crate) run: u32,
    /// Whether it is live, or has pending notifications.
    pub(crate) is_open: bool,
}

impl Transaction<'_> {
    /// Returns the outline of every task.
    pub(crate) fn outlines(&self) -> Result<Vec<(TaskId, Outline)>, StoreError> {
        let sql = format!(
            "SELECT id, json_extract(state, '$.run'), phase < 2 OR EXISTS \
             (SELECT 1 FROM notices WHERE notices.task = tasks.id AND {IS_OPEN}) FROM tasks"
        );
        let mut query = self.inner.prepare(&sql)?;
        let row = |row: &rusqlite::Row<'_>| {
            Ok((row.get::<_, String>(0)?, Outline { run: row.get(1)?, is_open: row.get(2)? }))
        };
        let found = query.query_map([], row)?.collect::<Result<Vec<_>, _>>()?;
        Ok(found.into_iter().filter_map(|(id, outline)| Some((id.parse().ok()?, outline))).collect())
    }
}

impl Store {
    /// Reads one task.
    pub(crate) fn task(&self, id: &TaskId) -> Result<Option<Task>, StoreError> {
        let mut query = self.connection.prepare_cached(&task_sql())?;
        Ok(query.query_row([id.as_str()], |row| rows::task(row, &self.tasks_dir)).optional()?)
    }

    /// Returns every task that holds a slot, or has surviving children.
    pub(crate) fn unsettled(&self) -> Result<Vec<Task>, StoreError> {
        unsettled(&self.connection, &self.tasks_dir)
    }

    /// Returns the oldest finished tasks, except those with pending notifications and those that kept an agent, which
    /// are removed with the agent's task.
    pub(crate) fn oldest_ended(&self, most: u32) -> Result<Vec<Ended>, StoreError> {
        let sql = format!(
            "SELECT {} FROM tasks NOT INDEXED WHERE phase = 2 AND survivors = 0 AND NOT {IS_KEEPER} AND NOT EXISTS \
             (SELECT 1 FROM notices WHERE notices.task = tasks.id AND {IS_OPEN}) ORDER BY seq LIMIT ?1",
            rows::COLUMNS
        );
        let mut query = self.connection.prepare_cached(&sql)?;
        let found = query.query_map([most], |row| rows::task(row, &self.tasks_dir))?;
        let mut ended = Vec::new();
        for task in found {
            let task = task?;
            ended.push(Ended {
                ended_at: task.ended_at.unwrap_or(task.created_at),
                output_bytes: task.output_bytes.saturating_sub(task.dropped_bytes),
                id: task.id,
            });
        }
        Ok(ended)
    }

    /// Returns the total size of the finished tasks. Tasks that kept an agent add to the size, but not to the count.
    pub(crate) fn totals(&self) -> Result<Totals, StoreError> {
        let sql = format!(
            "SELECT count(*) FILTER (WHERE NOT {IS_KEEPER}), coalesce(sum(output_bytes - dropped_bytes), 0) \
             FROM tasks WHERE phase = 2"
        );
        Ok(self.connection.query_row(&sql, [], |row| {
            Ok(Totals { count: row.get::<_, i64>(0)? as u64, output_bytes: row.get::<_, i64>(1)? as u64 })
        })?)
    }

    /// Returns how long a command last took in a directory when it ended by itself.
    pub(crate) fn last_duration(&self, command: &str, cwd: &str) -> Result<Option<u64>, StoreError> {
        let sql = "SELECT duration_ms FROM tasks WHERE command = ?1 AND cwd = ?2 \
                   AND status IN ('completed', 'failed') AND duration_ms IS NOT NULL ORDER BY seq DESC LIMIT 1";
        let found: Option<i64> =
            self.connection.query_row(sql, [command, cwd], |row| row.get(0)).optional()?;
        Ok(found.map(|ms| ms as u64))
    }

    /// Returns the highest number that any task of a session has had.
    pub(crate) fn last_number(&self, session: &str) -> Result<u64, StoreError> {
        last_number(&self.connection, session)
    }

    /// Returns the highest number in the short handles of a context, or of a session if there is no context.
    pub(crate) fn last_handle_number(&self, session: &str, context: Option<&str>) -> Result<u64, StoreError> {
        last_handle_number(&self.connection, session, context)
    }

    /// Returns whether any task is queued.
    pub(crate) fn any_waiting(&self) -> Result<bool, StoreError> {
        Ok(self.connection.query_row(ANY_WAITING, [], |row| row.get(0))?)
    }

    /// Returns a task's position in its session's queue, from 1.
    pub(crate) fn queue_position(&self, task: &Task) -> Result<u32, StoreError> {
        let mut query = self.connection.prepare_cached(QUEUE_POSITION)?;
        Ok(query
            .query_row(rusqlite::params![task.session, task.priority, task.id.as_str()], |row| row.get(0))?)
    }
}
