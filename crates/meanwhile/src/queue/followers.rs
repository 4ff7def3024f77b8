//! Tasks that wait for another task.

use mw_model::TaskId;

use crate::disk::home::Home;
use crate::disk::store::Transaction;
use crate::error::Result;

/// Removes an ended task from the `after` list of those tasks that waited for such an end, because the task is being removed.
/// The specs change first, because a lost database is rebuilt from them.
pub(crate) fn release_followers(home: &Home, transaction: &Transaction<'_>, id: &TaskId) -> Result<()> {
    let Some(before) = transaction.task(id)? else { return Ok(()) };
    let record = home.task(id).result(before.state.run())?;
    let status = record.map_or(before.status, |it| it.cause().status());
    if !status.is_terminal() {
        return Ok(());
    }
    for mut follower in transaction.waiting_after(id)? {
        follower.after.retain(|other| other.id != *id || !other.end.is_met_by(status));
        // A spec that cannot be written matters only to a rebuilt database.
        let _ = home.task(&follower.id).change_after(&follower.after);
        transaction.set_after(&follower.id, &follower.after)?;
    }
    Ok(())
}
