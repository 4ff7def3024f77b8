//! Reading tasks, by index only.

use std::path::Path;

use mw_model::{Status, TaskId, TaskKind, Timestamp};
use rusqlite::types::ToSql;
use rusqlite::{Connection, OptionalExtension, TransactionBehavior};

use super::connection::Store;
use super::error::StoreError;
use super::rows;
use crate::retention::Totals;
use crate::task::{Scope, Task};

/// Which tasks to list.
#[derive(Clone, Debug)]
pub struct Filter {
    /// Whose.
    pub scope: Scope,
    /// In these states; empty = any.
    pub statuses: Vec<Status>,
    /// Of this kind.
    pub kind: Option<TaskKind>,
    /// Of this batch.
    pub batch: Option<String>,
    /// With this name.
    pub name: Option<String>,
    /// How many at most.
    pub limit: u32,
}

impl Filter {
    /// All tasks in scope, newest first.
    #[must_use]
    pub const fn new(scope: Scope) -> Self {
        Self { scope, statuses: Vec::new(), kind: None, batch: None, name: None, limit: 50 }
    }
}

/// Part of a list.
#[derive(Clone, Debug)]
pub struct Page {
    /// Live tasks first, then the newest.
    pub tasks: Vec<Task>,
    /// How many fit the filter in all.
    pub total: u64,
}

/// A finished task that may be removed.
pub(crate) struct Ended {
    pub(crate) id: TaskId,
    pub(crate) ended_at: Timestamp,
    pub(crate) output_bytes: u64,
}

/// A way through the tasks that follows an index, so that its cost does not grow with their number.
enum Walk {
    HoldingSlots,
    Waiting,
    Newest,
    NewestOfSession,
    InStatus(Status),
}

impl Walk {
    /// Returns the index to use, the condition and the order.
    fn sql(&self) -> (&'static str, String, &'static str) {
        match self {
            Self::HoldingSlots => ("INDEXED BY tasks_live", "phase = 1".to_owned(), "seq"),
            Self::Waiting => ("INDEXED BY tasks_waiting", "phase = 0".to_owned(), "seq"),
            Self::Newest => ("NOT INDEXED", "phase = 2".to_owned(), "seq"),
            Self::NewestOfSession => ("INDEXED BY tasks_by_session", "phase = 2".to_owned(), "number"),
            Self::InStatus(status) => {
                ("INDEXED BY tasks_by_status", format!("status = '{}'", status.word()), "seq")
            }
        }
    }
}

/// Reads it on a connection, in a transaction or not.
pub(super) fn last_number(connection: &Connection, session: &str) -> Result<u64, StoreError> {
    let sql = "SELECT last_number FROM sessions WHERE id = ?1";
    let last: Option<i64> = connection.query_row(sql, [session], |row| row.get(0)).optional()?;
    Ok(last.unwrap_or(0) as u64)
}

/// Reads them on a connection, in a transaction or not.
pub(super) fn unsettled(connection: &Connection, tasks_dir: &Path) -> Result<Vec<Task>, StoreError> {
    let sql = format!(
        "SELECT {0} FROM tasks WHERE phase = 1 UNION ALL SELECT {0} FROM tasks WHERE survivors > 0 AND phase = 2",
        rows::COLUMNS
    );
    let mut query = connection.prepare_cached(&sql)?;
    let found = query.query_map([], |row| rows::task(row, tasks_dir))?;
    Ok(found.collect::<Result<_, _>>()?)
}

impl Store {
    /// Reads one task.
    pub(crate) fn task(&self, id: &TaskId, tasks_dir: &Path) -> Result<Option<Task>, StoreError> {
        let sql = format!("SELECT {} FROM tasks WHERE id = ?1", rows::COLUMNS);
        let mut query = self.connection.prepare_cached(&sql)?;
        Ok(query.query_row([id.as_str()], |row| rows::task(row, tasks_dir)).optional()?)
    }

    /// Returns every task that holds a slot, or whose children have outlived it.
    pub(crate) fn unsettled(&self, tasks_dir: &Path) -> Result<Vec<Task>, StoreError> {
        unsettled(&self.connection, tasks_dir)
    }

    /// Returns the finished tasks that were asked for first, without those of which the owner is still to be told.
    pub(crate) fn oldest_ended(&self, most: u32) -> Result<Vec<Ended>, StoreError> {
        let sql = format!(
            "SELECT {} FROM tasks NOT INDEXED WHERE phase = 2 AND survivors = 0 AND NOT EXISTS \
             (SELECT 1 FROM notices WHERE notices.task = tasks.id AND stage IN (0, 2, 4)) ORDER BY seq LIMIT ?1",
            rows::COLUMNS
        );
        let mut query = self.connection.prepare_cached(&sql)?;
        let found = query.query_map([most], |row| rows::task(row, Path::new("")))?;
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

    /// Returns what finished tasks take together.
    pub(crate) fn totals(&self) -> Result<Totals, StoreError> {
        let sql =
            "SELECT count(*), coalesce(sum(output_bytes - dropped_bytes), 0) FROM tasks WHERE phase = 2";
        Ok(self.connection.query_row(sql, [], |row| {
            Ok(Totals { count: row.get::<_, i64>(0)? as u64, output_bytes: row.get::<_, i64>(1)? as u64 })
        })?)
    }

    /// Returns the highest number that any task of a session has had.
    pub(crate) fn last_number(&self, session: &str) -> Result<u64, StoreError> {
        last_number(&self.connection, session)
    }

    /// Tells whether any task waits for a slot.
    pub(crate) fn any_waiting(&self) -> Result<bool, StoreError> {
        Ok(self
            .connection
            .query_row("SELECT EXISTS (SELECT 1 FROM tasks WHERE phase = 0)", [], |row| row.get(0))?)
    }

    /// Returns how many of a session's waiting tasks come before this one, plus one.
    pub(crate) fn queue_position(&self, task: &Task) -> Result<u32, StoreError> {
        let sql = "SELECT 1 + count(*) FROM tasks WHERE phase = 0 AND session = ?1 AND \
                   (priority > ?2 OR (priority = ?2 AND seq < (SELECT seq FROM tasks WHERE id = ?3)))";
        let mut query = self.connection.prepare_cached(sql)?;
        Ok(query
            .query_row(rusqlite::params![task.session, task.priority, task.id.as_str()], |row| row.get(0))?)
    }

    /// Lists live tasks first, then ended ones, newest first in each part.
    pub(crate) fn list(&self, filter: &Filter, tasks_dir: &Path) -> Result<Page, StoreError> {
        // One view for all parts: tasks move from one to the next meanwhile.
        let _view = rusqlite::Transaction::new_unchecked(&self.connection, TransactionBehavior::Deferred)?;
        let mut tasks = self.walk(filter, &[Walk::HoldingSlots, Walk::Waiting], filter.limit, tasks_dir)?;
        let left = filter.limit - tasks.len() as u32;
        if left > 0 {
            tasks.extend(self.ended_walk(filter, left, tasks_dir)?);
        }
        let total = self.count(filter)?;
        Ok(Page { tasks, total })
    }

    fn ended_walk(&self, filter: &Filter, most: u32, tasks_dir: &Path) -> Result<Vec<Task>, StoreError> {
        let terminal: Vec<_> = filter
            .statuses
            .iter()
            .filter(|status| status.is_terminal())
            .map(|s| Walk::InStatus(*s))
            .collect();
        match (&*filter.statuses, &filter.scope) {
            ([], Scope::All) => self.walk(filter, &[Walk::Newest], most, tasks_dir),
            ([], Scope::Session(_)) => self.walk(filter, &[Walk::NewestOfSession], most, tasks_dir),
            _ => self.walk(filter, &terminal, most, tasks_dir),
        }
    }

    /// Follows each way, merges what they find, newest first, and keeps the first `most`.
    fn walk(
        &self,
        filter: &Filter,
        ways: &[Walk],
        most: u32,
        tasks_dir: &Path,
    ) -> Result<Vec<Task>, StoreError> {
        let mut found = Vec::new();
        for way in ways {
            let (clause, values) = conditions(filter);
            let (index, condition, order) = way.sql();
            let sql = format!(
                "SELECT {}, seq FROM tasks {index} WHERE {condition}{clause} ORDER BY {order} DESC LIMIT {most}",
                rows::COLUMNS
            );
            let mut query = self.connection.prepare_cached(&sql)?;
            let values: Vec<&dyn ToSql> = values.iter().map(AsRef::as_ref).collect();
            let rows = query
                .query_map(&*values, |row| Ok((row.get::<_, i64>("seq")?, rows::task(row, tasks_dir)?)))?;
            for row in rows {
                found.push(row?);
            }
        }
        found.sort_by_key(|(seq, _)| std::cmp::Reverse(*seq));
        Ok(found.into_iter().take(most as usize).map(|(_, task)| task).collect())
    }

    fn count(&self, filter: &Filter) -> Result<u64, StoreError> {
        let (clause, values) = conditions(filter);
        let sql = format!("SELECT count(*) FROM tasks WHERE 1{clause}");
        let values: Vec<&dyn ToSql> = values.iter().map(AsRef::as_ref).collect();
        let count: i64 = self.connection.prepare_cached(&sql)?.query_row(&*values, |row| row.get(0))?;
        Ok(count as u64)
    }

    /// Returns ids of ended tasks that fit, oldest first.
    pub(crate) fn ended(
        &self,
        filter: &Filter,
        ended_before_us: Option<i64>,
        tasks_dir: &Path,
    ) -> Result<Vec<Task>, StoreError> {
        let all = Filter { limit: u32::MAX, ..filter.clone() };
        let mut tasks = self.ended_walk(&all, u32::MAX, tasks_dir)?;
        tasks.retain(|task| {
            ended_before_us.is_none_or(|before| task.ended_at.is_some_and(|ended| ended.as_micros() < before))
        });
        tasks.reverse();
        Ok(tasks)
    }
}

fn conditions(filter: &Filter) -> (String, Vec<Box<dyn ToSql>>) {
    let mut clause = String::new();
    let mut values: Vec<Box<dyn ToSql>> = Vec::new();
    let mut add = |column: &str, value: Box<dyn ToSql>| {
        values.push(value);
        clause.push_str(&format!(" AND {column} = ?{}", values.len()));
    };
    if let Scope::Session(session) = &filter.scope {
        add("session", Box::new(session.clone()));
    }
    if let Some(kind) = filter.kind {
        add("kind", Box::new(kind.word()));
    }
    if let Some(batch) = &filter.batch {
        add("batch", Box::new(batch.clone()));
    }
    if let Some(name) = &filter.name {
        add("name", Box::new(name.clone()));
    }
    if !filter.statuses.is_empty() {
        let words: Vec<_> = filter.statuses.iter().map(|status| format!("'{}'", status.word())).collect();
        clause.push_str(&format!(" AND status IN ({})", words.join(",")));
    }
    (clause, values)
}
