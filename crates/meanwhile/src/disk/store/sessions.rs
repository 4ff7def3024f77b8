//! Sessions in the database.

use mw_model::TaskId;
use rusqlite::params;
use serde::Serialize;

use super::connection::Store;
use super::error::StoreError;
use super::filter::IS_KEEPER;
use super::notices::IS_OPEN;
use super::rows;
use super::write::Transaction;
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

impl Store {
    /// Lists the sessions that have tasks, except those of tasks that keep agents alive.
    pub(crate) fn sessions(&self) -> Result<Vec<SessionInfo>, StoreError> {
        let sql = format!(
            "SELECT session, count(*), sum(phase < 2), \
             (SELECT count(*) FROM notices WHERE notices.session = tasks.session AND {IS_OPEN}) \
             FROM tasks WHERE NOT {IS_KEEPER} GROUP BY session ORDER BY session"
        );
        let mut query = self.connection.prepare(&sql)?;
        let found = query.query_map([], |row| {
            Ok(SessionInfo {
                id: row.get(0)?,
                tasks: row.get::<_, i64>(1)? as u64,
                live: row.get::<_, i64>(2)? as u64,
                notices: row.get::<_, i64>(3)? as u64,
                hosts: 0,
            })
        })?;
        Ok(found.collect::<Result<_, _>>()?)
    }

    /// Returns the removed agent tasks whose keepers' tasks are still there.
    pub(crate) fn gone_with_keepers(&self) -> Result<Vec<TaskId>, StoreError> {
        let sql = format!("SELECT DISTINCT session FROM tasks WHERE {IS_KEEPER}");
        let mut query = self.connection.prepare(&sql)?;
        let sessions = query.query_map([], |row| row.get::<_, String>(0))?.collect::<Result<Vec<_>, _>>()?;
        let mut gone = Vec::new();
        for agent in sessions
            .iter()
            .filter_map(|session| crate::disk::session_dir::agent_sessions::kept_agent(session))
        {
            if self.task(&agent)?.is_none() {
                gone.push(agent);
            }
        }
        Ok(gone)
    }

    /// Returns a session's tasks that are queued, run, or have surviving children.
    pub(crate) fn tasks_of(&self, session: &str) -> Result<Vec<Task>, StoreError> {
        let sql = format!(
            "SELECT {0} FROM tasks WHERE session = ?1 AND phase = 0 UNION ALL \
             SELECT {0} FROM tasks WHERE session = ?1 AND phase = 1 UNION ALL \
             SELECT {0} FROM tasks WHERE session = ?1 AND phase = 2 AND survivors > 0",
            rows::COLUMNS
        );
        let mut query = self.connection.prepare_cached(&sql)?;
        let found = query.query_map([session], |row| rows::task(row, &self.tasks_dir))?;
        Ok(found.collect::<Result<_, _>>()?)
    }
}

impl Transaction<'_> {
    /// Returns the highest number that any task of a session has had.
    pub(crate) fn last_number(&self, session: &str) -> Result<u64, StoreError> {
        super::read::last_number(&self.inner, session)
    }

    pub(crate) fn last_handle_number(&self, session: &str, context: Option<&str>) -> Result<u64, StoreError> {
        super::read::last_handle_number(&self.inner, session, context)
    }

    /// Returns a session's tasks that are live or have pending notifications.
    pub(crate) fn unfinished_of(&self, session: &str) -> Result<Vec<Task>, StoreError> {
        let sql = format!(
            "SELECT {} FROM tasks WHERE session = ?1 AND (phase < 2 OR survivors > 0 OR EXISTS \
             (SELECT 1 FROM notices WHERE notices.task = tasks.id AND {IS_OPEN})) ORDER BY seq",
            rows::COLUMNS
        );
        let mut query = self.inner.prepare(&sql)?;
        let found = query.query_map([session], |row| rows::task(row, self.tasks_dir))?;
        Ok(found.collect::<Result<_, _>>()?)
    }

    /// Removes the rest of a session without tasks.
    pub(crate) fn forget_session(&self, session: &str) -> Result<(), StoreError> {
        for sql in [
            "DELETE FROM notices WHERE session = ?1",
            "DELETE FROM turns WHERE session = ?1",
            "DELETE FROM sessions WHERE id = ?1",
        ] {
            self.inner.execute(sql, params![session])?;
        }
        Ok(())
    }
}
