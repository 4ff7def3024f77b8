//! Why a driver cannot go on.

use std::io;

/// Why a driver cannot go on now.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PlaceError {
    /// The place cannot be reached. That says nothing about the task.
    #[error("{0}")]
    Unreachable(String),
    /// The place refuses the task, and will refuse it again. Nothing was started.
    #[error("{0}")]
    Refused(String),
    /// The task was started, and its outcome will never be known.
    #[error("{0}")]
    Lost(String),
    /// The task's own files cannot be read or written.
    #[error("{what}: {source}")]
    Files {
        /// What was attempted.
        what: &'static str,
        /// The error of the system.
        source: io::Error,
    },
}

impl PlaceError {
    /// No thread can be started now, such as under `ulimit -u`.
    pub(crate) fn no_thread(error: &io::Error) -> Self {
        Self::Unreachable(format!("cannot start a thread: {error}"))
    }

    pub(crate) fn files(what: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Files { what, source }
    }
}

pub(crate) type Result<T> = std::result::Result<T, PlaceError>;
