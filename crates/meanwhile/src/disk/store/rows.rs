//! Conversion between rows and [`Task`].

use std::path::Path;

use mw_model::{Dialect, Lifetime, TaskId, TaskKind, TaskState, Timestamp};
use rusqlite::Row;
use rusqlite::types::Type;

use crate::task::Task;

/// Columns in the order in which [`task`] reads them.
pub(super) const COLUMNS: &str = "id, kind, session, number, name, description, command, cwd, batch, lifetime, priority, after, \
     deadline, created_at, approved_by, approved_at, state, pid, duration_ms, output_bytes, dropped_bytes, survivors, \
     resume_count, journal_seen, trace, dialect, context, handle_number, foreground, queue";

/// Reads a task from a row of [`COLUMNS`].
pub(super) fn task(row: &Row<'_>, tasks_dir: &Path) -> rusqlite::Result<Task> {
    let id: TaskId = parsed(row, 0, |text: String| text.parse().ok())?;
    let state: TaskState = parsed(row, 16, |text: String| serde_json::from_str(&text).ok())?;
    let after = row
        .get::<_, Option<String>>(11)?
        .and_then(|text| serde_json::from_str(&text).ok())
        .unwrap_or_default();
    let output_path =
        tasks_dir.join(id.as_str()).join(mw_model::wire::LOG_FILE).to_string_lossy().into_owned();
    let mut task = Task {
        kind: parsed(row, 1, |text: String| TaskKind::from_word(&text))?,
        session: row.get(2)?,
        number: row.get::<_, i64>(3)? as u64,
        name: row.get(4)?,
        description: row.get(5)?,
        command: row.get(6)?,
        cwd: row.get(7)?,
        batch_id: row.get(8)?,
        untended: None,
        place: None,
        parent_session: None,
        parent_message: None,
        limits: None,
        lifetime: parsed(row, 9, |text: String| Lifetime::from_word(&text))?,
        priority: row.get(10)?,
        after,
        deadline: row.get::<_, Option<i64>>(12)?.map(Timestamp::from_micros),
        created_at: Timestamp::from_micros(row.get(13)?),
        approved_by: row.get(14)?,
        approved_at: Timestamp::from_micros(row.get(15)?),
        proposal: None,
        status: state.status(),
        pid: row.get(17)?,
        duration_ms: row.get::<_, Option<i64>>(18)?.map(|ms| ms as u64),
        output_bytes: row.get::<_, i64>(19)? as u64,
        dropped_bytes: row.get::<_, i64>(20)? as u64,
        output_complete: true,
        survivors: row.get(21)?,
        resume_count: row.get(22)?,
        journal_seen: row.get::<_, i64>(23)? as u64,
        output_path,
        id,
        cause: None,
        started_at: None,
        ended_at: None,
        exit_code: None,
        signal: None,
        runs: 0,
        queue_position: None,
        waiting_for: None,
        stalled: None,
        ready: None,
        ports: None,
        progress: None,
        agent: None,
        trace_id: None,
        span_id: None,
        trace: row.get::<_, Option<String>>(24)?.and_then(|text| serde_json::from_str(&text).ok()),
        dialect: row.get::<_, Option<String>>(25)?.and_then(|name| Dialect::named(&name)).unwrap_or_default(),
        context: row.get(26)?,
        handle_number: row.get::<_, Option<i64>>(27)?.map(|number| number as u64),
        foreground: row.get(28)?,
        queue: row.get::<_, Option<String>>(29)?.and_then(|text| serde_json::from_str(&text).ok()),
        state: state.clone(),
    };
    let duration_ms = task.duration_ms;
    task.set_state(state);
    task.duration_ms = duration_ms;
    Ok(task)
}

fn parsed<T>(row: &Row<'_>, column: usize, parse: impl FnOnce(String) -> Option<T>) -> rusqlite::Result<T> {
    let text: String = row.get(column)?;
    let problem = || {
        rusqlite::Error::FromSqlConversionFailure(column, Type::Text, format!("unexpected {text:?}").into())
    };
    parse(text.clone()).ok_or_else(problem)
}
