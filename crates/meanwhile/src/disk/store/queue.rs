//! Queries of the queue, always inside the transaction that decides.

use mw_model::{QueueLimits, TaskId};
use rusqlite::params;

use super::error::StoreError;
use super::query::task_id;
use super::write::{Transaction, json};
use crate::disk::slots::Pool;
use crate::task::Task;

impl Transaction<'_> {
    /// Returns a session's queued tasks in queue order, from an offset, except those with certain limits.
    pub(crate) fn waiting_in(
        &self,
        (session, pool): (&str, Pool),
        without: &[Option<QueueLimits>],
        skip: u32,
        most: u32,
    ) -> Result<Vec<Task>, StoreError> {
        let rest = "WHERE phase = 0 AND session = ?1 AND (kind = 'agent') = ?4 \
             AND ifnull(queue, '') NOT IN (SELECT value FROM json_each(?5)) ORDER BY priority DESC, seq LIMIT ?2 OFFSET ?3";
        let without: Result<Vec<_>, _> =
            without.iter().map(|limits| limits.as_ref().map_or_else(|| Ok(String::new()), json)).collect();
        self.tasks_that(rest, params![session, most, skip, pool == Pool::Agents, json(&without?)?])
    }

    /// Returns the queued tasks that wait for another.
    pub(crate) fn waiting_after(&self, id: &TaskId) -> Result<Vec<Task>, StoreError> {
        self.tasks_that("WHERE phase = 0 AND instr(after, ?1)", [id.as_str()])
    }

    /// Changes which tasks a task waits for.
    pub(crate) fn set_after(&self, id: &TaskId, after: &[TaskId]) -> Result<(), StoreError> {
        let after = if after.is_empty() { None } else { Some(json(&after)?) };
        self.change("UPDATE tasks SET after = ?2 WHERE id = ?1", params![id.as_str(), after])
    }

    /// Returns whether a session has queued tasks for slots of this pool.
    pub(crate) fn any_waiting_in(&self, session: &str, pool: Pool) -> Result<bool, StoreError> {
        let sql =
            "SELECT EXISTS (SELECT 1 FROM tasks WHERE phase = 0 AND session = ?1 AND (kind = 'agent') = ?2)";
        self.value(sql, params![session, pool == Pool::Agents])
    }

    /// Returns the sessions that have queued tasks.
    pub(crate) fn sessions_waiting(&self) -> Result<Vec<String>, StoreError> {
        self.rows("SELECT DISTINCT session FROM tasks WHERE phase = 0", [], |row| Ok(row.get(0)?))
    }

    /// Returns the live task of a session with this name.
    pub(crate) fn live_named(&self, session: &str, name: &str) -> Result<Option<TaskId>, StoreError> {
        let sql =
            "SELECT id FROM tasks WHERE name = ?2 AND session = ?1 AND phase < 2 ORDER BY seq DESC LIMIT 1";
        Ok(self.rows(sql, [session, name], |row| task_id(row, 0))?.pop())
    }
}
