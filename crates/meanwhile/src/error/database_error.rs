//! The database's error as callers see it, without the types of SQLite.

use crate::disk::store::StoreError;

/// A failure of the database. Its text says what failed.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct DatabaseError(#[from] StoreError);

impl DatabaseError {
    /// Returns whether a newer version of meanwhile wrote the database.
    #[must_use]
    pub const fn is_newer(&self) -> bool {
        self.0.is_newer()
    }

    /// Returns whether the disk is full or read-only.
    #[must_use]
    pub fn is_disk_full(&self) -> bool {
        self.0.is_disk_full()
    }

    /// Returns whether the database is damaged.
    #[must_use]
    pub fn is_damage(&self) -> bool {
        self.0.is_damage()
    }

    pub(crate) const fn store_error(&self) -> &StoreError {
        &self.0
    }
}
