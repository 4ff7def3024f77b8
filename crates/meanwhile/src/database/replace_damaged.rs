//! Sets a damaged database aside. The next call builds a new one from the task directories.

use std::fs;

use super::stores::Database;
use crate::disk::names::CHECK_DIR;
use crate::disk::store::StoreError;
use crate::disk::store::damage::{ReplacementLock, is_damaged, rename_aside};
use crate::error::{Error, Result};

impl Database {
    /// Runs an attempt that may be repeated, and repeats it if the database was damaged or replaced and a new one is
    /// in place.
    pub(crate) fn healing<T>(&self, attempt: impl Fn() -> Result<T>) -> Result<T> {
        match attempt() {
            Err(error) if self.heal_after(&error) => attempt(),
            done => done,
        }
    }

    /// Sets the database aside if an error says that it is damaged and a check confirms it. Returns whether the next
    /// call uses another database.
    pub(crate) fn heal_after(&self, error: &Error) -> bool {
        if self.is_in_transaction() {
            return false;
        }
        match error {
            Error::Store(error) if matches!(error.store_error(), StoreError::BeingReplaced) => true,
            Error::Store(damage) if damage.is_damage() => self.set_aside_if_damaged(),
            Error::EndedOnly { source, .. } => self.heal_after(source),
            _ => false,
        }
    }

    /// Sets the database aside if it is damaged. Returns whether the next call uses another one.
    pub fn set_aside_if_damaged(&self) -> bool {
        let database = self.home.database();
        let lock = ReplacementLock::of(&database);
        if !lock.take() {
            return false;
        }
        // Several processes may find the same damage. The first one has already replaced the database.
        if self.uses_replaced_database() {
            return true;
        }
        let scratch = self.home.root().join(CHECK_DIR);
        let is_damaged = is_damaged(&database, &scratch);
        let _ = fs::remove_dir_all(&scratch);
        if !is_damaged {
            // A process that could not open the database may have seen the one that was replaced.
            return !self.has_open_database();
        }
        let Ok(aside) = rename_aside(&database, &self.clock.now().to_string()) else { return false };
        (self.settings.tell)(&format!(
            "the database was damaged; it is being rebuilt from the task directories, and the damaged file is kept as {}",
            aside.display()
        ));
        true
    }
}
