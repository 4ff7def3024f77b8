//! Reads tasks, using only indexes.

use mw_model::{TaskId, Timestamp};
use rusqlite::{TransactionBehavior, params};

use super::connection::Store;
use super::error::StoreError;
use super::filter::IS_KEEPER;
use super::notices::IS_OPEN;
use super::rows;
use super::write::{ENDED, HOLDS_SLOT, Transaction};
use crate::task::Task;

/// The total size of the finished tasks.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Totals {
    pub(crate) count: u64,
    pub(crate) output_bytes: u64,
}

/// How many tasks a batch has.
pub(crate) struct BatchCounts {
    pub(crate) live: u64,
    pub(crate) completed: u64,
    pub(crate) all: u64,
}

/// A finished task that may be removed.
pub(crate) struct EndedTask {
    pub(crate) id: TaskId,
    pub(crate) ended_at: Timestamp,
    pub(crate) output_bytes: u64,
}

pub(super) fn task_sql() -> String {
    format!("SELECT {} FROM tasks WHERE id = ?1", rows::COLUMNS)
}

/// The indexes are named, because SQLite would otherwise read every ended task.
pub(super) fn unsettled_sql() -> String {
    format!(
        "SELECT {0} FROM tasks INDEXED BY tasks_live WHERE phase = {HOLDS_SLOT} UNION ALL \
         SELECT {0} FROM tasks INDEXED BY tasks_surviving WHERE survivors > 0 AND phase = {ENDED}",
        rows::COLUMNS
    )
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
            "SELECT id, json_extract(state, '$.run'), phase < {ENDED} OR EXISTS \
             (SELECT 1 FROM notices WHERE notices.task = tasks.id AND {IS_OPEN}) FROM tasks"
        );
        let found = self.rows(&sql, [], |row| {
            Ok((row.get::<_, String>(0)?, Outline { run: row.get(1)?, is_open: row.get(2)? }))
        })?;
        Ok(found.into_iter().filter_map(|(id, outline)| Some((id.parse().ok()?, outline))).collect())
    }
}

impl Store {
    /// Reads one task.
    pub(crate) fn task(&self, id: &TaskId) -> Result<Option<Task>, StoreError> {
        Ok(self.tasks(&task_sql(), [id.as_str()])?.pop())
    }

    /// Returns every task that holds a slot, or has surviving children.
    pub(crate) fn unsettled(&self) -> Result<Vec<Task>, StoreError> {
        self.tasks(&unsettled_sql(), [])
    }

    /// Returns the total size of the finished tasks and the oldest of them, as of one moment, except those with pending notifications and those that kept an agent, which
    /// are removed with the agent's task.
    pub(crate) fn oldest_ended(&self, most: u32) -> Result<(Totals, Vec<EndedTask>), StoreError> {
        // Another process may be removing tasks. A total that is older than the list would count them twice.
        let _view = rusqlite::Transaction::new_unchecked(&self.connection, TransactionBehavior::Deferred)?;
        let rest = format!(
            "NOT INDEXED WHERE phase = {ENDED} AND survivors = 0 AND NOT {IS_KEEPER} AND NOT EXISTS \
             (SELECT 1 FROM notices WHERE notices.task = tasks.id AND {IS_OPEN}) ORDER BY seq LIMIT ?1"
        );
        let ended = |task: Task| EndedTask {
            ended_at: task.ended_at.unwrap_or(task.created_at),
            output_bytes: task.output_bytes.saturating_sub(task.dropped_bytes),
            id: task.id,
        };
        Ok((self.totals()?, self.tasks_that(&rest, [most])?.into_iter().map(ended).collect()))
    }

    /// Returns the total size of the finished tasks. Tasks that kept an agent add to the size, but not to the count.
    fn totals(&self) -> Result<Totals, StoreError> {
        let sql = format!(
            "SELECT count(*) FILTER (WHERE NOT {IS_KEEPER}), coalesce(sum(output_bytes - dropped_bytes), 0) \
             FROM tasks WHERE phase = {ENDED}"
        );
        Ok(self.connection.query_row(&sql, [], |row| {
            Ok(Totals { count: row.get::<_, i64>(0)? as u64, output_bytes: row.get::<_, i64>(1)? as u64 })
        })?)
    }

    /// Counts the tasks of a batch.
    pub(crate) fn batch_counts(&self, session: &str, batch: &str) -> Result<BatchCounts, StoreError> {
        let sql = format!(
            "SELECT count(*) FILTER (WHERE phase < {ENDED}), count(*) FILTER (WHERE status = 'completed'), count(*) \
             FROM tasks WHERE session = ?1 AND batch = ?2"
        );
        Ok(self.connection.query_row(&sql, [session, batch], |row| {
            let count = |at| row.get::<_, i64>(at).map(i64::unsigned_abs);
            Ok(BatchCounts { live: count(0)?, completed: count(1)?, all: count(2)? })
        })?)
    }

    /// Returns how long a command last took in a directory when it ended by itself.
    pub(crate) fn last_duration(&self, command: &str, cwd: &str) -> Result<Option<u64>, StoreError> {
        let sql = "SELECT duration_ms FROM tasks WHERE command = ?1 AND cwd = ?2 \
                   AND status IN ('completed', 'failed') AND duration_ms IS NOT NULL ORDER BY seq DESC LIMIT 1";
        let found: Option<i64> = self.first(sql, [command, cwd])?;
        Ok(found.map(|ms| ms as u64))
    }

    /// Returns the highest number that any task of a session has had.
    pub(crate) fn last_number(&self, session: &str) -> Result<u64, StoreError> {
        let last: Option<i64> = self.first("SELECT last_number FROM sessions WHERE id = ?1", [session])?;
        Ok(last.unwrap_or(0) as u64)
    }

    /// Returns the highest number in the short handles of a context, or of a session if there is no context.
    pub(crate) fn last_handle_number(&self, session: &str, context: Option<&str>) -> Result<u64, StoreError> {
        let sql = "SELECT max(handle_number) FROM tasks WHERE session = ?1 AND context IS ?2";
        let last: Option<i64> = self.value(sql, params![session, context])?;
        Ok(last.unwrap_or(0) as u64)
    }
}
