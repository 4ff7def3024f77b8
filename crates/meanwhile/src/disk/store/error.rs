//! What can go wrong with the database.

use crate::error::{LACK_HINT, is_lack, is_lack_of_room};

/// A failure of the database.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// SQLite said so.
    #[error("{0}")]
    Sqlite(#[from] rusqlite::Error),
    /// A newer build wrote it.
    #[error("meanwhile.db has schema {found}, this build knows up to {known}")]
    Newer {
        /// What it has.
        found: u32,
        /// What we know.
        known: u32,
    },
    /// The file cannot be opened or made.
    #[error("meanwhile.db cannot be opened: {0}")]
    Unopened(std::io::Error),
    /// A row holds what no build of ours wrote.
    #[error("a row of meanwhile.db is corrupt: {0}")]
    Corrupt(String),
    /// An event that cannot follow the state it meets.
    #[error(transparent)]
    Refused(#[from] mw_model::Refusal),
}

impl StoreError {
    /// Tells whether the disk, not the database, is the trouble.
    pub(crate) fn is_lack_of_room(&self) -> bool {
        use rusqlite::ErrorCode;
        let error = match self {
            Self::Sqlite(error) => error,
            Self::Unopened(error) => return is_lack_of_room(error),
            Self::Newer { .. } | Self::Corrupt(_) | Self::Refused(_) => return false,
        };
        matches!(
            error.sqlite_error_code(),
            Some(ErrorCode::DiskFull | ErrorCode::SystemIoFailure | ErrorCode::ReadOnly)
        )
    }

    pub(crate) fn hint(&self) -> String {
        match self {
            Self::Newer { .. } => "upgrade mw, or set MEANWHILE_HOME to another directory".to_owned(),
            Self::Sqlite(_) if self.is_lack_of_room() => {
                "make room on the disk, or give it back its rights; mw clear --finished removes what has ended".to_owned()
            }
            Self::Sqlite(error) if error.sqlite_error_code() == Some(rusqlite::ErrorCode::CannotOpen) => {
                "check the permissions of the home directory, and how many files may be open here (ulimit -n)".to_owned()
            }
            Self::Unopened(error) if is_lack(error) => LACK_HINT.to_owned(),
            Self::Unopened(_) => "check the permissions and the free space of the home directory".to_owned(),
            Self::Sqlite(_) | Self::Corrupt(_) => {
                "check free space and permissions; if the database is damaged, remove meanwhile.db: it is rebuilt from the task directories"
                    .to_owned()
            }
            Self::Refused(_) => "mw list shows where the tasks stand".to_owned(),
        }
    }
}
