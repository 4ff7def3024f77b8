//! Errors of the database.

use crate::error::{LACK_HINT, is_disk_full, is_shortage};

/// A failure of the database. Callers of the library see it as a [`DatabaseError`](crate::error::DatabaseError).
#[derive(Debug, thiserror::Error)]
pub(crate) enum StoreError {
    /// An error from SQLite.
    #[error("{0}")]
    Sqlite(#[from] rusqlite::Error),
    /// A newer build wrote the database.
    #[error("meanwhile.db has schema {found}, this version supports up to {known}")]
    Newer {
        /// The schema of the database.
        found: u32,
        /// The newest schema that this build supports.
        known: u32,
    },
    /// The file cannot be opened or created.
    #[error("cannot open meanwhile.db: {0}")]
    Unopened(std::io::Error),
    /// A row has invalid content.
    #[error("a row of meanwhile.db is corrupt: {0}")]
    Corrupt(String),
    /// The file was emptied while other processes used it.
    #[error("meanwhile.db is empty, and other processes still use its earlier content")]
    Emptied,
    /// The file was replaced by another one, or is about to be.
    #[error("meanwhile.db is being replaced")]
    BeingReplaced,
    /// An event that cannot follow the current state.
    #[error(transparent)]
    Refused(#[from] mw_model::TransitionRefused),
}

impl StoreError {
    /// Returns whether a newer version wrote the database.
    pub(crate) const fn is_newer(&self) -> bool {
        matches!(self, Self::Newer { .. })
    }

    /// Returns whether the disk is full or read-only.
    pub(crate) fn is_disk_full(&self) -> bool {
        use rusqlite::ErrorCode;
        match self {
            Self::Sqlite(error) => matches!(
                error.sqlite_error_code(),
                Some(ErrorCode::DiskFull | ErrorCode::SystemIoFailure | ErrorCode::ReadOnly)
            ),
            Self::Unopened(error) => is_disk_full(error),
            _ => false,
        }
    }

    /// Returns whether the file is damaged.
    pub(crate) fn is_damage(&self) -> bool {
        use rusqlite::ErrorCode;
        let code = if let Self::Sqlite(error) = self { error.sqlite_error_code() } else { None };
        matches!(self, Self::Emptied)
            || matches!(code, Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase))
    }

    /// Returns what to do next, without any command.
    pub(crate) fn hint(&self) -> &'static str {
        match self {
            Self::Newer { .. } => "upgrade meanwhile, or use another home directory",
            Self::Sqlite(_) if self.is_disk_full() => {
                "free disk space, for example by removing finished tasks, or restore write permission"
            }
            Self::Sqlite(error) if error.sqlite_error_code() == Some(rusqlite::ErrorCode::CannotOpen) => {
                "check the permissions of the home directory and the limit of open files (ulimit -n)"
            }
            Self::Unopened(error) if is_shortage(error) => LACK_HINT,
            Self::Unopened(_) => "check the permissions and the free space of the home directory",
            Self::BeingReplaced => "try again",
            Self::Sqlite(_) if self.is_damage() => {
                "try again: a damaged database is set aside and rebuilt from the task directories"
            }
            Self::Sqlite(_) | Self::Corrupt(_) | Self::Emptied => {
                "check free space and permissions; if the database is damaged, remove meanwhile.db: it is rebuilt from the task directories"
            }
            Self::Refused(_) => "check the state of the task",
        }
    }
}
