//! Fills an empty database from the task directories, after the old one was lost.

use mw_model::TaskId;

use super::arrivals::DAMAGED;
use super::on_disk::TaskOnDisk;
use super::stores::Database;
use crate::disk::home::Home;
use crate::disk::store::{Store, Transaction};
use crate::error::{Error, Result};

impl Database {
    /// Fills the database on disk from the task directories.
    pub(crate) fn rebuild(&self, transaction: &Transaction<'_>) -> Result<()> {
        self.renumber_events(transaction)?;
        rebuild(&self.home, transaction)?.iter().try_for_each(|id| self.note_arrival(id))
    }

    /// Numbers further events above all that the lost database may have used: readers keep their position in the stream,
    /// and would not see events below it. No database has had an event per microsecond since 1970.
    pub(super) fn renumber_events(&self, transaction: &Transaction<'_>) -> Result<()> {
        Ok(transaction.number_events_after(self.clock.now().as_micros())?)
    }

    /// Builds a temporary database of this process from the task directories. The list does not change.
    pub(crate) fn rebuild_for_now(&self) -> Result<Store> {
        let mut store = Store::in_memory(self.home.tasks())?;
        let mut left = Vec::new();
        store.bring_up_to_date(|transaction| {
            left = rebuild(&self.home, transaction)?;
            Ok(())
        })?;
        self.take_in_all(&store, &left)?;
        Ok(store)
    }
}

/// Fills an empty database from the task directories; returns tasks that may still be starting, or that cannot be inspected
/// now. Damaged directories are left unchanged.
fn rebuild(home: &Home, transaction: &Transaction<'_>) -> Result<Vec<TaskId>> {
    let (mut all, mut left) = (Vec::new(), Vec::new());
    for id in home.task_ids()? {
        match look_for_rebuild(home, &id) {
            Ok(Kept::Task(found)) => all.push(found),
            Ok(Kept::Unfinished) => left.push(id),
            Ok(Kept::Cleared) => home.task(&id).remove(),
            Err(error) if error.is_shortage() => return Err(error),
            Err(error) => {
                transaction.set_mark(DAMAGED, 1)?;
                if !matches!(error, Error::Damaged { .. } | Error::Foreign { .. }) {
                    left.push(id);
                }
            }
        }
    }
    all.sort_by_key(|found| (found.spec.created_at, found.spec.number));
    for found in all {
        found.insert(home, transaction)?;
    }
    Ok(left)
}

/// What a rebuild finds in a task's directory.
enum Kept {
    Task(Box<TaskOnDisk>),
    /// Its starter still uses the old database, or was killed before it had written anything.
    Unfinished,
    /// Another process was removing it.
    Cleared,
}

fn look_for_rebuild(home: &Home, id: &TaskId) -> Result<Kept> {
    let directory = home.task(id);
    directory.refuse_foreign()?;
    if directory.was_being_cleared()? {
        return Ok(Kept::Cleared);
    }
    if directory.is_being_started()? || !(directory.has_spec()? || directory.was_begun()?) {
        return Ok(Kept::Unfinished);
    }
    Ok(Kept::Task(Box::new(TaskOnDisk::read(home, directory.spec()?)?)))
}
