//! Queries of the queue, always inside the transaction that decides.

use mw_model::{Dependency, QueueLimits, TaskId, Timestamp};
use rusqlite::params;

use super::connection::Store;
use super::error::StoreError;
use super::query::task_id;
use super::write::{ENDED, HOLDS_SLOT, QUEUED, Transaction, json};
use crate::disk::slots::Pool;
use crate::task::Task;
use crate::task::queue_place::QueuePlace;

/// The order of a session's queue.
pub(super) const QUEUE_ORDER: &str = "priority DESC, rank, seq";

/// The condition for tasks that precede, in this order, the task with priority `?2` and id `?3`.
const COMES_BEFORE: &str =
    "(priority > ?2 OR (priority = ?2 AND (rank, seq) < (SELECT rank, seq FROM tasks WHERE id = ?3)))";

/// The order of a list in which queued tasks are in this order, and the others newest first.
pub(super) fn queue_order_or_newest() -> String {
    format!(
        "CASE phase WHEN {QUEUED} THEN -priority END, CASE phase WHEN {QUEUED} THEN rank END, \
         CASE phase WHEN {QUEUED} THEN seq ELSE -seq END"
    )
}

pub(super) fn queue_position_sql() -> String {
    format!("SELECT 1 + count(*) FROM tasks WHERE phase = {QUEUED} AND session = ?1 AND {COMES_BEFORE}")
}

pub(super) fn any_waiting_sql() -> String {
    format!("SELECT EXISTS (SELECT 1 FROM tasks WHERE phase = {QUEUED})")
}

impl Store {
    /// Returns whether any task is queued.
    pub(crate) fn any_waiting(&self) -> Result<bool, StoreError> {
        self.value(&any_waiting_sql(), [])
    }

    /// Returns the earliest time after `after` before which a queued task does not start.
    pub(crate) fn next_due(&self, after: Timestamp) -> Result<Option<Timestamp>, StoreError> {
        let sql = format!(
            "SELECT min(not_before) FROM tasks INDEXED BY tasks_due WHERE phase = {QUEUED} AND not_before > ?1"
        );
        Ok(self.value::<Option<i64>>(&sql, [after.as_micros()])?.map(Timestamp::from_micros))
    }

    /// Returns whether a queued task waited for a time that has come.
    pub(crate) fn any_overdue(&self, now: Timestamp) -> Result<bool, StoreError> {
        let sql = format!(
            "SELECT EXISTS (SELECT 1 FROM tasks INDEXED BY tasks_due WHERE phase = {QUEUED} AND not_before <= ?1)"
        );
        self.value(&sql, [now.as_micros()])
    }

    /// Returns how many tasks hold slots: all, or those of a session and a pool.
    pub(crate) fn running(&self, session: Option<&str>, pool: Option<Pool>) -> Result<u32, StoreError> {
        let sql = format!(
            "SELECT count(*) FROM tasks WHERE phase = {HOLDS_SLOT} AND ifnull(?1, session) = session \
             AND ifnull(?2, kind = 'agent') = (kind = 'agent') AND ifnull(queue, '') <> ?3"
        );
        let agents = pool.map(|pool| pool == Pool::Agents);
        self.value(&sql, params![session, agents, json(&QueueLimits::NONE)?])
    }

    /// Returns how many tasks of a group hold slots.
    pub(crate) fn running_in_group(&self, name: &str) -> Result<u32, StoreError> {
        let sql = format!(
            "SELECT count(*) FROM tasks WHERE phase = {HOLDS_SLOT} AND json_extract(queue, '$.group.name') = ?1"
        );
        self.value(&sql, [name])
    }

    /// Returns a task's position in its session's queue, from 1.
    pub(crate) fn queue_position(&self, task: &Task) -> Result<u32, StoreError> {
        self.value(&queue_position_sql(), params![task.session, task.priority, task.id.as_str()])
    }
}

/// Returns the limits of a queued task as they are stored; an old task may have none.
fn stored_limits(limits: &Option<QueueLimits>) -> Result<String, StoreError> {
    limits.as_ref().map_or_else(|| Ok(String::new()), json)
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
        let queued = format!(
            "INDEXED BY tasks_waiting WHERE phase = {QUEUED} AND session = ?1 AND (kind = 'agent') = ?4"
        );
        let some = format!("ORDER BY {QUEUE_ORDER} LIMIT ?2 OFFSET ?3");
        let is_agent = pool == Pool::Agents;
        if without.is_empty() {
            return self.tasks_that(&format!("{queued} {some}"), params![session, most, skip, is_agent]);
        }
        let without: Result<Vec<_>, _> = without.iter().map(stored_limits).collect();
        let others = "AND ifnull(queue, '') NOT IN (SELECT value FROM json_each(?5))";
        let values = params![session, most, skip, is_agent, json(&without?)?];
        self.tasks_that(&format!("{queued} {others} {some}"), values)
    }

    /// Returns whether a queued task of a session and a pool has other limits than these. Unlike a search for it, this takes as long with many
    /// queued tasks as with few.
    pub(crate) fn has_other_limits(
        &self,
        (session, pool): (&str, Pool),
        limits: &Option<QueueLimits>,
    ) -> Result<bool, StoreError> {
        let limits = stored_limits(limits)?;
        for other in ["<", ">"] {
            let sql = format!(
                "SELECT EXISTS (SELECT 1 FROM tasks INDEXED BY tasks_limits \
                 WHERE phase = {QUEUED} AND session = ?1 AND (kind = 'agent') = ?2 AND ifnull(queue, '') {other} ?3)"
            );
            if self.value(&sql, params![session, pool == Pool::Agents, limits])? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns the places of a session's queued tasks, in order.
    pub(crate) fn places(&self, session: &str, pool: Pool) -> Result<Vec<QueuePlace>, StoreError> {
        let sql = format!(
            "SELECT id, priority, rank, seq FROM tasks WHERE phase = {QUEUED} AND session = ?1 AND (kind = 'agent') = ?2 \
             ORDER BY {QUEUE_ORDER}"
        );
        self.rows(&sql, params![session, pool == Pool::Agents], |row| {
            Ok(QueuePlace {
                id: task_id(row, 0)?,
                priority: row.get(1)?,
                rank: row.get(2)?,
                seq: row.get(3)?,
            })
        })
    }

    /// Moves a queued task to another place.
    pub(crate) fn set_place(&self, place: &QueuePlace) -> Result<(), StoreError> {
        let values = params![place.id.as_str(), place.priority, place.rank];
        self.change("UPDATE tasks SET priority = ?2, rank = ?3 WHERE id = ?1", values)
    }

    /// Replaces the command of a task, as it is shown, and who approved it.
    pub(crate) fn set_command(&self, id: &TaskId, command: &str, by: &str) -> Result<(), StoreError> {
        let values = params![id.as_str(), command, by];
        self.change("UPDATE tasks SET command = ?2, approved_by = ?3 WHERE id = ?1", values)
    }

    /// Returns the queued tasks that wait for another.
    pub(crate) fn waiting_after(&self, id: &TaskId) -> Result<Vec<Task>, StoreError> {
        self.tasks_that(&format!("WHERE phase = {QUEUED} AND instr(after, ?1)"), [id.as_str()])
    }

    /// Changes which tasks a task waits for.
    pub(crate) fn set_after(&self, id: &TaskId, after: &[Dependency]) -> Result<(), StoreError> {
        let after = if after.is_empty() { None } else { Some(json(&after)?) };
        self.change("UPDATE tasks SET after = ?2 WHERE id = ?1", params![id.as_str(), after])
    }

    /// Returns whether a session has queued tasks for slots of this pool.
    pub(crate) fn any_waiting_in(&self, session: &str, pool: Pool) -> Result<bool, StoreError> {
        let sql = format!(
            "SELECT EXISTS (SELECT 1 FROM tasks INDEXED BY tasks_limits \
             WHERE phase = {QUEUED} AND session = ?1 AND (kind = 'agent') = ?2)"
        );
        self.value(&sql, params![session, pool == Pool::Agents])
    }

    /// Returns the sessions that have queued tasks.
    pub(crate) fn sessions_waiting(&self) -> Result<Vec<String>, StoreError> {
        let next = format!(
            "SELECT min(session) FROM tasks INDEXED BY tasks_limits WHERE phase = {QUEUED} AND session > ?1"
        );
        let mut sessions: Vec<String> = Vec::new();
        while let Some(session) =
            self.value::<Option<String>>(&next, [sessions.last().map_or("", String::as_str)])?
        {
            sessions.push(session);
        }
        Ok(sessions)
    }

    /// Returns the live task of a session with this name.
    pub(crate) fn live_named(&self, session: &str, name: &str) -> Result<Option<TaskId>, StoreError> {
        let sql = format!(
            "SELECT id FROM tasks WHERE name = ?2 AND session = ?1 AND phase < {ENDED} ORDER BY seq DESC LIMIT 1"
        );
        Ok(self.rows(&sql, [session, name], |row| task_id(row, 0))?.pop())
    }
}
