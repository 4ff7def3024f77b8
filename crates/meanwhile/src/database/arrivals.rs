//! Adds tasks to the database that were started without it.

use std::collections::HashSet;

use mw_model::{TaskId, TaskState};

use super::on_disk::TaskOnDisk;
use super::stores::Database;
use crate::database::findings::Findings;
use crate::disk::store::{Store, Transaction};
use crate::error::{Error, Result};
use crate::fail_point::fail_point;

/// How many arrivals are recorded in one transaction, so that other processes get their turn.
const AT_ONCE: usize = 64;
/// Set when a task directory could not be read.
pub(crate) const DAMAGED: &str = "damaged";

/// The result of reading an arrival.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Arrival {
    /// It is in the database now.
    New,
    /// It was in the database already, or is unusable.
    Old,
    /// Its starter is still writing it, or was killed before it had written it.
    Unfinished,
}

impl Database {
    /// Records the tasks that were started without the database.
    pub(crate) fn take_in_arrivals(&self, store: &Store) -> Result<()> {
        let take = |ids: Vec<TaskId>| self.take_in_all(store, &ids);
        self.home.arrivals().take_in(take, |id| self.remove_if_abandoned(id))
    }

    /// Records them in the temporary database of this process. They stay on the list.
    pub(crate) fn take_in_for_now(&self, copy: &Store) -> Result<()> {
        self.take_in_all(copy, &self.home.arrivals().ids()?).map(drop)
    }

    /// Adds every task that is not in the database to the list of arrivals. Only needed if the list was removed.
    pub(crate) fn find_arrivals(&self, store: &Store) -> Result<()> {
        for id in self.home.task_ids()? {
            if store.task(&id)?.is_none() {
                self.note_arrival(&id)?;
            }
        }
        // If the disk is full, the next command tries again.
        let _ = self.home.arrivals().make();
        Ok(())
    }

    /// Removes the remains of tasks whose removal was interrupted.
    pub(crate) fn sweep_cleared(&self) -> Result<()> {
        let store = self.store()?;
        for id in self.home.task_ids()? {
            // Anything that cannot be inspected is left to the next sweep.
            let is_ours = self.home.task(&id).refuse_foreign().is_ok();
            let was_being_cleared = self.home.task(&id).was_being_cleared().unwrap_or(false);
            if is_ours && was_being_cleared && store.task(&id)?.is_none() {
                self.home.task(&id).remove();
            }
        }
        Ok(())
    }

    pub(crate) fn note_arrival(&self, id: &TaskId) -> Result<()> {
        self.home.arrivals().announce(id, || Ok(())).map_err(Error::io("cannot write to arrivals"))
    }

    /// Returns what is wrong with a task that has a directory but is not in the database.
    pub(crate) fn damage(&self, id: &TaskId) -> Result<Option<Error>> {
        let directory = self.home.task(id);
        match directory.refuse_foreign() {
            Err(foreign @ Error::Foreign { .. }) => return Ok(Some(foreign)),
            looked => looked?,
        }
        let is_new = directory.is_being_started()? && directory.journal()?.is_empty();
        if is_new || !directory.is_present()? || directory.was_being_cleared()? {
            return Ok(None);
        }
        match directory.spec() {
            Ok(_) => Ok(None),
            Err(error @ Error::Damaged { .. }) => Ok(Some(error)),
            Err(error) => Err(error),
        }
    }

    /// Records these arrivals; returns those that are done.
    pub(super) fn take_in_all(&self, store: &Store, ids: &[TaskId]) -> Result<HashSet<TaskId>> {
        let mut any = false;
        let (mut done, mut new) = (HashSet::new(), ids.to_vec());
        if ids.len() <= AT_ONCE {
            // Often the only task is one that is recorded already, or the one that this process is queueing. It needs no transaction.
            let is_recorded = |id: &TaskId| Ok::<_, Error>(store.task(id)?.is_some());
            new.clear();
            for id in ids {
                match is_recorded(id)? {
                    true => _ = done.insert(id.clone()),
                    false if self.is_being_written(id).unwrap_or(false) => {}
                    false => new.push(id.clone()),
                }
            }
        }
        for some in new.chunks(AT_ONCE) {
            let transaction = store.begin()?;
            // Their slots may have belonged to tasks that have ended since.
            self.record_endings(&transaction)?;
            for id in some {
                match self.take_in(&transaction, id)? {
                    Arrival::Unfinished => {}
                    Arrival::New => any |= done.insert(id.clone()),
                    Arrival::Old => _ = done.insert(id.clone()),
                }
            }
            transaction.commit()?;
            fail_point("arrivals-committed");
        }
        if any {
            self.announce();
        }
        Ok(done)
    }

    fn take_in(&self, transaction: &Transaction<'_>, id: &TaskId) -> Result<Arrival> {
        if transaction.task(id)?.is_some() {
            return Ok(Arrival::Old);
        }
        // Read everything before the first change, so that a failure leaves no partial task.
        let (found, findings) = match self.look_at_arrival(id) {
            Ok(Some(looked)) => looked,
            Ok(None) => return Ok(Arrival::Unfinished),
            Err(_) if self.home.task(id).was_being_cleared().unwrap_or(false) => {
                self.home.task(id).remove();
                return Ok(Arrival::Old);
            }
            Err(Error::Damaged { .. } | Error::Foreign { .. }) => {
                transaction.set_mark(DAMAGED, 1)?;
                return Ok(Arrival::Old);
            }
            Err(error) if error.is_shortage() => return Err(error),
            // It may be readable next time.
            Err(_) => {
                transaction.set_mark(DAMAGED, 1)?;
                return Ok(Arrival::Unfinished);
            }
        };
        let mut task = found.insert(&self.home, transaction)?;
        if !matches!(task.state, TaskState::Pending { .. }) {
            self.apply_findings(transaction, &mut task, &findings)?;
        }
        Ok(Arrival::New)
    }

    /// Returns whether the starter of an arrival is still at work, and its command was not executed yet.
    fn is_being_written(&self, id: &TaskId) -> Result<bool> {
        let directory = self.home.task(id);
        Ok(directory.is_being_started()? && directory.journal()?.is_empty())
    }

    /// Reads an arrival; `None` while its starter still writes it, or if the starter was killed before it was
    /// complete.
    fn look_at_arrival(&self, id: &TaskId) -> Result<Option<(TaskOnDisk, Findings)>> {
        let directory = self.home.task(id);
        directory.refuse_foreign()?;
        let was_told = directory.has_spec()? || directory.was_begun()?;
        if !was_told || self.is_being_written(id)? {
            return Ok(None);
        }
        let found = TaskOnDisk::read(&self.home, directory.spec()?)?;
        let findings = self.look_at(&found.task)?;
        Ok(Some((found, findings)))
    }

    /// Removes the files of a task whose starter was killed before they were complete: no process knows of such a
    /// task. Returns whether it was such a task. Call it only while no starter can be creating a directory.
    fn remove_if_abandoned(&self, id: &TaskId) -> bool {
        let directory = self.home.task(id);
        let look = || -> Result<bool> {
            Ok(!directory.is_being_started()? && !directory.has_spec()? && !directory.was_begun()?)
        };
        // A directory that cannot be inspected stays on the list.
        let abandoned = look().unwrap_or(false);
        if abandoned {
            directory.remove();
        }
        abandoned
    }
}
