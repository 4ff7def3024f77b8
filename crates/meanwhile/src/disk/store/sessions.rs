//! Sessions in the database.

use mw_model::TaskId;
use serde::Serialize;

use super::connection::Store;
use super::error::StoreError;
use super::filter::IS_KEEPER;
use super::notices::IS_OPEN;
use super::rows;
use super::write::{ENDED, HOLDS_SLOT, QUEUED, Transaction};
use crate::disk::session_dir::agent_sessions::kept_agent;
use crate::task::Task;

/// A session in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SessionInfo {
    /// Its name.
    pub id: String,
    /// Tasks that run or are queued.
    pub live: u64,
    /// All its tasks.
    pub tasks: u64,
    /// Unacknowledged notifications.
    pub notices: u64,
    /// Number of live hosts.
    pub hosts: usize,
}

/// The indexes are named, because SQLite would otherwise read every ended task.
pub(super) fn tasks_of_sql() -> String {
    format!(
        "SELECT {0} FROM tasks INDEXED BY tasks_waiting WHERE session = ?1 AND phase = {QUEUED} UNION ALL \
         SELECT {0} FROM tasks INDEXED BY tasks_live WHERE session = ?1 AND phase = {HOLDS_SLOT} UNION ALL \
         SELECT {0} FROM tasks INDEXED BY tasks_surviving WHERE session = ?1 AND phase = {ENDED} AND survivors > 0",
        rows::COLUMNS
    )
}

impl Store {
    /// Lists the sessions that have tasks, except those of tasks that keep agents alive.
    pub(crate) fn sessions(&self) -> Result<Vec<SessionInfo>, StoreError> {
        let sql = format!(
            "SELECT session, tasks, \
             (SELECT count(*) FROM tasks INDEXED BY tasks_waiting WHERE session = counted.session AND phase = {QUEUED}) + \
             (SELECT count(*) FROM tasks INDEXED BY tasks_live WHERE session = counted.session AND phase = {HOLDS_SLOT}), \
             (SELECT count(*) FROM notices WHERE notices.session = counted.session AND {IS_OPEN}) \
             FROM (SELECT id AS session, tasks FROM sessions) AS counted \
             WHERE tasks > 0 AND NOT {IS_KEEPER} ORDER BY session"
        );
        self.rows(&sql, [], |row| {
            let count = |at| row.get::<_, i64>(at).map(|count| count as u64);
            Ok(SessionInfo {
                id: row.get(0)?,
                tasks: count(1)?,
                live: count(2)?,
                notices: count(3)?,
                hosts: 0,
            })
        })
    }

    /// Returns the removed agent tasks whose keepers' tasks are still there.
    pub(crate) fn gone_with_keepers(&self) -> Result<Vec<TaskId>, StoreError> {
        let sql = format!("SELECT DISTINCT session FROM tasks WHERE {IS_KEEPER}");
        let sessions: Vec<String> = self.rows(&sql, [], |row| Ok(row.get(0)?))?;
        let mut gone = Vec::new();
        for agent in sessions.iter().filter_map(|session| kept_agent(session)) {
            if self.task(&agent)?.is_none() {
                gone.push(agent);
            }
        }
        Ok(gone)
    }

    /// Returns a session's tasks that are queued, run, or have surviving children.
    pub(crate) fn tasks_of(&self, session: &str) -> Result<Vec<Task>, StoreError> {
        self.tasks(&tasks_of_sql(), [session])
    }
}

impl Transaction<'_> {
    /// Returns a session's tasks that are live or have pending notifications.
    pub(crate) fn unfinished_of(&self, session: &str) -> Result<Vec<Task>, StoreError> {
        let rest = format!(
            "WHERE session = ?1 AND (phase < {ENDED} OR survivors > 0 OR EXISTS \
             (SELECT 1 FROM notices WHERE notices.task = tasks.id AND {IS_OPEN})) ORDER BY seq"
        );
        self.tasks_that(&rest, [session])
    }

    /// Removes the rest of a session without tasks.
    pub(crate) fn forget_session(&self, session: &str) -> Result<(), StoreError> {
        for sql in [
            "DELETE FROM notices WHERE session = ?1",
            "DELETE FROM turns WHERE session = ?1",
            "DELETE FROM sessions WHERE id = ?1",
        ] {
            self.change(sql, [session])?;
        }
        Ok(())
    }
}
