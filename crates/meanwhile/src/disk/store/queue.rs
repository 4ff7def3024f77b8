//! Queries of the queue, always inside the transaction that decides.

use mw_model::{QueueLimits, TaskId};

use super::error::StoreError;
use super::rows;
use super::write::{Transaction, json};
use crate::disk::slots::Pool;
use crate::task::Task;

/// A session that has queued tasks.
pub(crate) struct Waiting {
    pub(crate) session: String,
}

impl Transaction<'_> {
    /// Returns a session's queued tasks in queue order, from an offset, except those with certain limits.
    pub(crate) fn waiting_in(
        &self,
        (session, pool): (&str, Pool),
        without: &[Option<QueueLimits>],
        skip: u32,
        most: u32,
    ) -> Result<Vec<Task>, StoreError> {
        let sql = format!(
            "SELECT {} FROM tasks WHERE phase = 0 AND session = ?1 AND (kind = 'agent') = ?4 \
             AND ifnull(queue, '') NOT IN (SELECT value FROM json_each(?5)) ORDER BY priority DESC, seq LIMIT ?2 OFFSET ?3",
            rows::COLUMNS
        );
        let mut query = self.inner.prepare_cached(&sql)?;
        let without: Result<Vec<_>, _> =
            without.iter().map(|limits| limits.as_ref().map_or_else(|| Ok(String::new()), json)).collect();
        let parameters = rusqlite::params![session, most, skip, pool == Pool::Agents, json(&without?)?];
        let found = query.query_map(parameters, |row| rows::task(row, self.tasks_dir))?;
        Ok(found.collect::<Result<_, _>>()?)
    }

    /// Returns the queued tasks that wait for another.
    pub(crate) fn waiting_after(&self, id: &TaskId) -> Result<Vec<Task>, StoreError> {
        let sql = format!("SELECT {} FROM tasks WHERE phase = 0 AND instr(after, ?1)", rows::COLUMNS);
        let mut query = self.inner.prepare_cached(&sql)?;
        let found = query.query_map([id.as_str()], |row| rows::task(row, self.tasks_dir))?;
        Ok(found.collect::<Result<_, _>>()?)
    }

    /// Changes which tasks a task waits for.
    pub(crate) fn set_after(&self, id: &TaskId, after: &[TaskId]) -> Result<(), StoreError> {
        let after = if after.is_empty() { None } else { Some(json(&after)?) };
        self.inner
            .execute("UPDATE tasks SET after = ?2 WHERE id = ?1", rusqlite::params![id.as_str(), after])?;
        Ok(())
    }

    /// Returns every task that holds a slot, or has surviving children.
    pub(crate) fn unsettled(&self) -> Result<Vec<Task>, StoreError> {
        super::read::unsettled(&self.inner, self.tasks_dir)
    }

    /// Returns whether any task is queued.
    pub(crate) fn any_waiting(&self) -> Result<bool, StoreError> {
        let sql = "SELECT EXISTS (SELECT 1 FROM tasks WHERE phase = 0)";
        Ok(self.inner.prepare_cached(sql)?.query_row([], |row| row.get(0))?)
    }

    /// Returns whether a session has queued tasks for slots of this pool.
    pub(crate) fn any_waiting_in(&self, session: &str, pool: Pool) -> Result<bool, StoreError> {
        let sql =
            "SELECT EXISTS (SELECT 1 FROM tasks WHERE phase = 0 AND session = ?1 AND (kind = 'agent') = ?2)";
        let parameters = rusqlite::params![session, pool == Pool::Agents];
        Ok(self.inner.prepare_cached(sql)?.query_row(parameters, |row| row.get(0))?)
    }

    /// Returns the sessions that have queued tasks.
    pub(crate) fn sessions_waiting(&self) -> Result<Vec<Waiting>, StoreError> {
        let mut query = self.inner.prepare_cached("SELECT DISTINCT session FROM tasks WHERE phase = 0")?;
        let found = query.query_map([], |row| Ok(Waiting { session: row.get(0)? }))?;
        Ok(found.collect::<Result<_, _>>()?)
    }

    /// Returns the live task of a session with this name.
    pub(crate) fn live_named(&self, session: &str, name: &str) -> Result<Option<TaskId>, StoreError> {
        let mut query = self.inner.prepare_cached(
            "SELECT id FROM tasks WHERE name = ?2 AND session = ?1 AND phase < 2 ORDER BY seq DESC LIMIT 1",
        )?;
        let mut found = query.query([session, name])?;
        match found.next()? {
            Some(row) => {
                let id: String = row.get(0)?;
                id.parse().map(Some).map_err(|_| StoreError::Corrupt(id))
            }
            None => Ok(None),
        }
    }
}
