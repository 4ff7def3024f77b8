//! Endings that no supervisor sees: cancelled in the queue, skipped, refused, lost.

use mw_model::wire::{ExitRecord, RESULT_FILE};
use mw_model::{Cause, Event, Timestamp};

use crate::error::{Error, Result, is_lack_of_room};
use crate::home::Home;
use crate::look::is_absent;
use crate::store::{Change, Transaction};
use crate::task::Task;

/// Records such an ending in the task's directory and in the database, in this order: a database that
/// is lost is rebuilt from the directories.
pub(crate) fn end_unsupervised(
    home: &Home,
    transaction: &Transaction<'_>,
    task: &mut Task,
    cause: Cause,
    now: Timestamp,
) -> Result<()> {
    let record = ExitRecord::unsupervised(task.state.run(), cause.clone(), now);
    let text = serde_json::to_vec(&record).map_err(|error| Error::io("result.json")(error.into()))?;
    let change = Change { journal_seen: Some(home.journal(&task.id)?.len() as u64), ..Change::default() };
    // The record of the run before goes out of the way first.
    match home.shelve_before(task).and_then(|()| home.replace(&task.id, RESULT_FILE, &text)) {
        // Without a directory, or without room, the database alone knows.
        Err(error) if is_absent(&error) || is_lack_of_room(&error) => {}
        written => written.map_err(Error::io(format!("cannot record the end of {}", task.id)))?,
    }
    home.end_metadata(&task.id, &cause, now);
    transaction.apply(task, &Event::Ended { cause, ended_at: now }, now, change)?;
    if task.trace.is_some_and(|trace| trace.is_exported()) {
        transaction.call_deliverer();
    }
    Ok(())
}
