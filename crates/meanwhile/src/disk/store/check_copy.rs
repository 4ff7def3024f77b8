//! Checks a copy of a database for damage.

use std::path::Path;

use mw_model::Timestamp;

use super::connection::open_copy;
use super::error::StoreError;
use super::filter::IS_KEEPER;
use super::inspect::Inspection;
use super::migrations;

/// The most problems that are reported.
const MAX: u32 = 5;

/// Checks a copy that no other process uses. The result has what the database shows.
pub(super) fn check_copy(path: &Path) -> Result<Inspection, StoreError> {
    let connection = open_copy(path)?;
    let (schema, known_schema) = migrations::versions(&connection)?;
    let mut check = connection.prepare(&format!("PRAGMA integrity_check({MAX})"))?;
    let problems = check.query_map([], |row| row.get::<_, String>(0))?.collect::<Result<Vec<_>, _>>()?;
    let problems: Vec<_> = problems.into_iter().filter(|problem| problem != "ok").collect();
    let (mut tasks, mut lost, mut due) = (0, 0, None);
    // An empty or newer database may not have this table.
    if (1..=known_schema).contains(&schema) && problems.is_empty() {
        let count = format!(
            "SELECT count(*), count(*) FILTER (WHERE status = 'lost') FROM tasks WHERE NOT {IS_KEEPER}"
        );
        (tasks, lost) = connection.query_row(&count, [], |row| {
            Ok((row.get::<_, i64>(0)?.unsigned_abs(), row.get::<_, i64>(1)?.unsigned_abs()))
        })?;
    }
    // An older database has no such times.
    if schema == known_schema && problems.is_empty() {
        let earliest = "SELECT min(not_before) FROM tasks WHERE phase = 0";
        due = connection.query_row(earliest, [], |row| row.get(0))?;
    }
    let due = due.map(Timestamp::from_micros);
    Ok(Inspection { schema: Some(schema), known_schema, problems, tasks, lost, due, ..Inspection::default() })
}
