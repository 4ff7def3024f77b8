//! Runs statements and reads their rows. Every statement is prepared once per connection.

use mw_model::TaskId;
use rusqlite::types::FromSql;
use rusqlite::{Params, Row};
use serde::de::DeserializeOwned;

use super::connection::Store;
use super::error::StoreError;
use super::rows;
use crate::task::Task;

impl Store {
    /// Returns the rows of a query.
    pub(super) fn rows<T>(
        &self,
        sql: &str,
        values: impl Params,
        mut read: impl FnMut(&Row<'_>) -> Result<T, StoreError>,
    ) -> Result<Vec<T>, StoreError> {
        let mut query = self.connection.prepare_cached(sql)?;
        let mut rows = query.query(values)?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            found.push(read(row)?);
        }
        Ok(found)
    }

    /// Returns the first value of the first row of a query, if there is a row.
    pub(super) fn first<T: FromSql>(&self, sql: &str, values: impl Params) -> Result<Option<T>, StoreError> {
        let mut query = self.connection.prepare_cached(sql)?;
        let mut rows = query.query(values)?;
        Ok(rows.next()?.map(|row| row.get(0)).transpose()?)
    }

    /// Returns the value of a query that always has one row.
    pub(super) fn value<T: FromSql>(&self, sql: &str, values: impl Params) -> Result<T, StoreError> {
        Ok(self.connection.prepare_cached(sql)?.query_row(values, |row| row.get(0))?)
    }

    /// Returns the tasks of a query for [`rows::COLUMNS`].
    pub(super) fn tasks(&self, sql: &str, values: impl Params) -> Result<Vec<Task>, StoreError> {
        self.rows(sql, values, |row| Ok(rows::task(row, &self.tasks_dir)?))
    }

    /// Returns the tasks that match the rest of a query.
    pub(super) fn tasks_that(&self, rest: &str, values: impl Params) -> Result<Vec<Task>, StoreError> {
        self.tasks(&format!("SELECT {} FROM tasks {rest}", rows::COLUMNS), values)
    }

    /// Executes a statement that changes rows. Returns how many it changed.
    pub(super) fn count_changed(&self, sql: &str, values: impl Params) -> Result<usize, StoreError> {
        Ok(self.connection.prepare_cached(sql)?.execute(values)?)
    }

    /// Executes a statement that changes rows.
    pub(super) fn change(&self, sql: &str, values: impl Params) -> Result<(), StoreError> {
        self.count_changed(sql, values).map(drop)
    }
}

/// Reads a column that contains JSON.
pub(super) fn decoded<T: DeserializeOwned>(row: &Row<'_>, column: usize) -> Result<T, StoreError> {
    let text: String = row.get(column)?;
    serde_json::from_str(&text).map_err(|error| StoreError::Corrupt(error.to_string()))
}

/// Reads a column that contains the id of a task.
pub(super) fn task_id(row: &Row<'_>, column: usize) -> Result<TaskId, StoreError> {
    let text: String = row.get(column)?;
    text.parse().map_err(|_| StoreError::Corrupt(text))
}
