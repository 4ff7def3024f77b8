//! How far each reader has read.

use mw_model::TaskId;
use rusqlite::params;

use super::connection::Store;
use super::error::StoreError;

impl Store {
    /// Returns a reader's position in a stream of a run; 0 if it has read nothing.
    pub(crate) fn cursor(
        &self,
        reader: &str,
        task: &TaskId,
        stream: &str,
        run: u32,
    ) -> Result<u64, StoreError> {
        let sql = "SELECT position FROM cursors WHERE reader = ?1 AND task = ?2 AND stream = ?3 AND run = ?4";
        let position: Option<i64> = self.first(sql, params![reader, task.as_str(), stream, run])?;
        Ok(position.unwrap_or(0) as u64)
    }

    /// Sets a reader's position.
    pub(crate) fn set_cursor(
        &self,
        reader: &str,
        task: &TaskId,
        stream: &str,
        run: u32,
        position: u64,
    ) -> Result<(), StoreError> {
        let sql =
            "INSERT OR REPLACE INTO cursors (reader, task, stream, run, position) VALUES (?1,?2,?3,?4,?5)";
        self.change(sql, params![reader, task.as_str(), stream, run, position as i64])
    }
}
