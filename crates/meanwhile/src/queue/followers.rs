//! Tasks that wait for another task.

use mw_model::{Status, TaskId};

use crate::disk::home::Home;
use crate::disk::store::Transaction;
use crate::error::Result;

/// Removes a completed task from the `after` list of other tasks, because the task is being removed. The specs change
/// first, because a lost database is rebuilt from them.
pub(crate) fn release_followers(home: &Home, transaction: &Transaction<'_>, id: &TaskId) -> Result<()> {
    let Some(before) = transaction.task(id)? else { return Ok(()) };
    let record = home.task(id).result(before.state.run())?;
    let on_record = record.is_some_and(|it| it.cause().status() == Status::Completed);
    if before.status != Status::Completed && !on_record {
        return Ok(());
    }
    for mut follower in transaction.waiting_after(id)? {
        follower.after.retain(|other| other != id);
        // A spec that cannot be written matters only to a rebuilt database.
        let _ = home.task(&follower.id).change_after(&follower.after);
        transaction.set_after(&follower.id, &follower.after)?;
    }
    Ok(())
}
