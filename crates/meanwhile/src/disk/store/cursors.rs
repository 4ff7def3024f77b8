//! How far each reader has read.

use mw_model::TaskId;
use rusqlite::{OptionalExtension, params};

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
        let mut query = self.connection.prepare_cached(
            "SELECT run, position FROM cursors WHERE reader = ?1 AND task = ?2 AND stream = ?3",
        )?;
        let found: Option<(u32, i64)> = query
            .query_row([reader, task.as_str(), stream], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
        Ok(found.filter(|(of, _)| *of == run).map_or(0, |(_, position)| position as u64))
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
        let mut insert = self.connection.prepare_cached(
            "INSERT OR REPLACE INTO cursors (reader, task, stream, run, position) VALUES (?1,?2,?3,?4,?5)",
        )?;
        insert.execute(params![reader, task.as_str(), stream, run, position as i64])?;
        Ok(())
    }
}
