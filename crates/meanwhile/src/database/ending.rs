//! Endings without a supervisor: cancelled in the queue, skipped, refused, lost.

use mw_model::wire::{ExitRecord, RESULT_FILE};
use mw_model::{Cause, Exit, Timestamp};

use super::stores::Database;
use crate::disk::log_names::drop_empty_name;
use crate::disk::optional_file::is_absent;
use crate::disk::store::{Change, Transaction};
use crate::disk::task_dir::log_view::{LogView, StreamChoice};
use crate::error::{Error, Result, is_disk_full};
use crate::task::{Task, ended_by};

/// Records such an ending in the task's directory and then in the database, because a lost database is rebuilt from
/// the directories.
pub(crate) fn end_unsupervised(
    database: &Database,
    transaction: &Transaction<'_>,
    task: &mut Task,
    cause: Cause,
    now: Timestamp,
) -> Result<()> {
    let home = &database.home;
    // First move the files of the previous run out of the way.
    let archived = home.task(&task.id).archive_before(task);
    // No process saw the end, so its last output may not have been read.
    let output_lost =
        matches!(cause, Cause::Lost { .. } | Cause::Cancelled { exit: Some(Exit::Unknown(_)), .. });
    let mut record = ExitRecord { output_lost, ..ExitRecord::unsupervised(task.state.run(), cause, now) };
    let mut change =
        Change { journal_seen: Some(home.task(&task.id).journal()?.len() as u64), ..Change::default() };
    // A task that never ran has no log.
    if archived.is_ok()
        && let Ok(view) = LogView::open(&home.task(&task.id), StreamChoice::Both)
    {
        (record.output_bytes, record.dropped_bytes) = view.size();
        (change.output_bytes, change.dropped_bytes) = (Some(record.output_bytes), Some(record.dropped_bytes));
    }
    let text = serde_json::to_vec(&record).map_err(|error| Error::io("result.json")(error.into()))?;
    match archived.and_then(|()| home.task(&task.id).replace(RESULT_FILE, &text)) {
        // Without a directory or without room, the end is recorded only in the database.
        Err(error) if is_absent(&error) || is_disk_full(&error) => {}
        written => written.map_err(Error::io(format!("cannot record the end of {}", task.id)))?,
    }
    home.task(&task.id).end_metadata(&record.cause(), now);
    drop_empty_name(home, task);
    database.record_event(transaction, task, &ended_by(&record), now, change)?;
    if task.trace.is_some_and(|trace| trace.is_exported()) {
        database.spans_wait.set(true);
    }
    Ok(())
}
