//! Conversion between rows and [`Task`].

use std::path::Path;

use mw_model::{Dialect, Lifetime, TaskId, TaskKind, TaskState, Timestamp};
use rusqlite::Row;
use rusqlite::types::{FromSql, Type};
use serde::de::DeserializeOwned;

use crate::task::Task;

/// Declares [`COLUMNS`] and the index of each in a row: a search for the name would cost more than reading the value.
macro_rules! columns {
    ($first:ident $(, $name:ident)*) => {
        /// The columns of a task.
        pub(super) const COLUMNS: &str = concat!(stringify!($first) $(, ", ", stringify!($name))*);

        #[expect(non_camel_case_types, reason = "the names are those of the columns")]
        #[derive(Clone, Copy)]
        enum Column {
            $first,
            $($name,)*
        }
    };
}

columns! {
    id, kind, session, number, name, description, command, cwd, batch, lifetime, priority, after, deadline,
    created_at, approved_by, approved_at, state, pid, duration_ms, output_bytes, dropped_bytes, survivors,
    resume_count, journal_seen, trace, dialect, context, handle_number, foreground, queue, rank, schedule
}

/// Reads a task from a row of [`COLUMNS`].
pub(super) fn task(row: &Row<'_>, tasks_dir: &Path) -> rusqlite::Result<Task> {
    let id: TaskId = parsed(row, Column::id, |text| text.parse().ok())?;
    let state: TaskState = parsed(row, Column::state, |text| serde_json::from_str(text).ok())?;
    let output_path =
        tasks_dir.join(id.as_str()).join(mw_model::wire::LOG_FILE).to_string_lossy().into_owned();
    let mut task = Task {
        kind: parsed(row, Column::kind, TaskKind::from_word)?,
        session: get(row, Column::session)?,
        number: get::<i64>(row, Column::number)? as u64,
        name: get(row, Column::name)?,
        description: get(row, Column::description)?,
        command: get(row, Column::command)?,
        cwd: get(row, Column::cwd)?,
        batch_id: get(row, Column::batch)?,
        untended: None,
        place: None,
        parent_session: None,
        parent_message: None,
        limits: None,
        confined: None,
        lifetime: parsed(row, Column::lifetime, Lifetime::from_word)?,
        priority: get(row, Column::priority)?,
        after: json(row, Column::after)?.unwrap_or_default(),
        deadline: get::<Option<i64>>(row, Column::deadline)?.map(Timestamp::from_micros),
        created_at: Timestamp::from_micros(get(row, Column::created_at)?),
        approved_by: get(row, Column::approved_by)?,
        approved_at: Timestamp::from_micros(get(row, Column::approved_at)?),
        proposal: None,
        status: state.status(),
        pid: get(row, Column::pid)?,
        duration_ms: get::<Option<i64>>(row, Column::duration_ms)?.map(|ms| ms as u64),
        output_bytes: get::<i64>(row, Column::output_bytes)? as u64,
        dropped_bytes: get::<i64>(row, Column::dropped_bytes)? as u64,
        output_complete: true,
        survivors: get(row, Column::survivors)?,
        resume_count: get(row, Column::resume_count)?,
        journal_seen: get::<i64>(row, Column::journal_seen)? as u64,
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
        place_state: None,
        stalled: None,
        ready: None,
        ports: None,
        last_run: None,
        paused: false,
        shell: None,
        outcome: None,
        progress: None,
        agent: None,
        trace_id: None,
        span_id: None,
        trace: json(row, Column::trace)?,
        dialect: get::<Option<String>>(row, Column::dialect)?
            .and_then(|name| Dialect::named(&name))
            .unwrap_or_default(),
        context: get(row, Column::context)?,
        handle_number: get::<Option<i64>>(row, Column::handle_number)?.map(|number| number as u64),
        foreground: get(row, Column::foreground)?,
        queue: json(row, Column::queue)?,
        rank: get(row, Column::rank)?,
        schedule: json(row, Column::schedule)?,
        not_before: None,
        restart: None,
        repeat: None,
        state: state.clone(),
    };
    task.set_state(state);
    Ok(task)
}

fn get<T: FromSql>(row: &Row<'_>, column: Column) -> rusqlite::Result<T> {
    row.get(column as usize)
}

/// Reads JSON; `None` if there is none, or if it is of a later build.
fn json<T: DeserializeOwned>(row: &Row<'_>, column: Column) -> rusqlite::Result<Option<T>> {
    let text: Option<String> = get(row, column)?;
    Ok(text.and_then(|text| serde_json::from_str(&text).ok()))
}

fn parsed<T>(row: &Row<'_>, column: Column, parse: impl FnOnce(&str) -> Option<T>) -> rusqlite::Result<T> {
    let text: String = get(row, column)?;
    let problem = || format!("unexpected {text:?}").into();
    parse(&text)
        .ok_or_else(|| rusqlite::Error::FromSqlConversionFailure(column as usize, Type::Text, problem()))
}
