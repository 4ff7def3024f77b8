//! The error of every operation.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use mw_model::approval::Proposal;
use mw_model::wire::RefusalCode;
use mw_model::{Status, TaskId};

use super::database_error::DatabaseError;
use super::reason::{Denial, ForeignEntry, HomeProblem, Invalid, NoConsent};
use super::retained::Retained;
use crate::disk::store::StoreError;

/// The result of an operation.
pub type Result<T> = std::result::Result<T, Error>;

/// Why an operation failed. Nothing was changed unless the text says so.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The request is invalid.
    #[error(transparent)]
    Invalid(Invalid),
    /// No task has this id or name.
    #[error("no task {0:?}")]
    NotFound(String),
    /// No approval request has this id.
    #[error("no approval request {0:?}")]
    NoProposal(String),
    /// Policy denies it.
    #[error(transparent)]
    Denied(Denial),
    /// A person was asked for approval and denied it.
    #[error("not allowed: {why}: {what}")]
    NoConsent {
        /// Why.
        why: NoConsent,
        /// What would have been done.
        what: String,
        /// The approval request.
        proposal: Box<Proposal>,
    },
    /// Approval is required, and nobody has answered yet.
    #[error("{message}")]
    NeedsApproval {
        /// What needs approval, and why.
        message: String,
        /// The approval request.
        proposal: Box<Proposal>,
        /// How long the request stays open.
        keep: Duration,
    },
    /// No span, trace or task with a trace has this id or name.
    #[error("no trace for {0:?}")]
    NoTrace(String),
    /// The beginning of an id matches several tasks.
    #[error("{handle:?} matches {} tasks: {}", found.len(), found.join(", "))]
    Ambiguous {
        /// The given id or name.
        handle: String,
        /// The tasks that match.
        found: Vec<String>,
    },
    /// A live task already has this name.
    #[error("the name {name:?} is in use by {id} ({})", status.word())]
    NameLive {
        /// The name.
        name: String,
        /// The task that has it.
        id: TaskId,
        /// That task's state.
        status: Status,
    },
    /// No slot is free, and the request does not allow queueing.
    #[error("max concurrent tasks ({limit}) reached")]
    AtCapacity {
        /// The limit.
        limit: u32,
    },
    /// The operation is not possible in the task's state.
    #[error("{id} {}: {message}", in_words(*status))]
    WrongState {
        /// The task.
        id: TaskId,
        /// Its state.
        status: Status,
        /// Why the operation is not possible.
        message: String,
    },
    /// The session of a task's agent has expired.
    #[error("the session of {id}'s agent has expired")]
    Expired {
        /// The task.
        id: TaskId,
    },
    /// The program could not be executed.
    #[error("cannot start: {message}")]
    Spawn {
        /// Why.
        code: RefusalCode,
        /// The error, in words.
        message: String,
    },
    /// The supervisor exited before it answered. The command was not executed.
    #[error("the supervisor exited before it started the command")]
    Unanswered,
    /// The supervisor program cannot be executed.
    #[error("cannot run the supervisor {}: {source}", path.display())]
    Supervisor {
        /// The path of the program.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The home is not usable.
    #[error(transparent)]
    Home(HomeProblem),
    /// The task's directory is damaged.
    #[error("{id}: {message}")]
    Damaged {
        /// The task.
        id: TaskId,
        /// What is wrong.
        message: String,
    },
    /// The path of a task's directory exists but is not a task.
    #[error("{} is {what}, not a task", path.display())]
    Foreign {
        /// The task with that id.
        id: TaskId,
        /// The path.
        path: PathBuf,
        /// The kind of entry.
        what: ForeignEntry,
    },
    /// The task's supervisor refused the request.
    #[error("{id}: {message}")]
    Refused {
        /// The task.
        id: TaskId,
        /// The supervisor's message.
        message: String,
    },
    /// The task's supervisor cannot be reached, does not answer, or does not exit.
    #[error("{id}: {message}")]
    Unresponsive {
        /// The task.
        id: TaskId,
        /// What it does not do.
        message: String,
    },
    /// The task was not removed.
    #[error("{}: {}", .0.id, .0.reason)]
    Kept(Box<Retained>),
    /// The task was started without an open standard input.
    #[error("{id}: it was started without an open standard input")]
    NoInput {
        /// The task.
        id: TaskId,
    },
    /// The task was started without a readiness condition, so it never becomes ready.
    #[error("{id}: it was started without a readiness condition")]
    NeverReady {
        /// The task.
        id: TaskId,
    },
    /// A task was ended for a restart but could not be started again.
    #[error("{id} was ended but could not be restarted: {source}")]
    EndedOnly {
        /// The task.
        id: TaskId,
        /// Why it could not be started.
        source: Box<Error>,
    },
    /// The database failed.
    #[error("database error: {0}")]
    Store(#[from] DatabaseError),
    /// The file system failed.
    #[error("{what}: {source}")]
    Io {
        /// The operation and the file.
        what: String,
        /// The system's error.
        source: io::Error,
    },
}

impl Error {
    /// Adds the failed operation to a system error.
    pub(crate) fn io(what: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let what = what.into();
        move |source| Self::Io { what, source }
    }

    /// Returns an error about a request, with the caller's text.
    #[must_use]
    pub fn invalid(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Invalid(Invalid::Other { message: message.into(), hint: hint.into() })
    }

    /// Returns whether this process has run out of descriptors, processes or memory. Its next operations would fail
    /// likewise.
    #[must_use]
    pub fn is_shortage(&self) -> bool {
        match self {
            Self::Io { source, .. } | Self::Supervisor { source, .. } => is_shortage(source),
            Self::Spawn { code, .. } => *code == RefusalCode::Lack,
            Self::EndedOnly { source, .. } => source.is_shortage(),
            Self::Store(error) => match error.store_error() {
                StoreError::Unopened(error) => is_shortage(error),
                _ => false,
            },
            _ => false,
        }
    }

    /// Returns whether a task that failed to start with this error may start later, unchanged.
    pub(crate) fn is_temporary(&self) -> bool {
        match self {
            Self::Unanswered => true,
            Self::Spawn { code, .. } if *code == RefusalCode::DiskFull => true,
            other => other.is_shortage(),
        }
    }

    /// Returns the task that the error is about, if it is about one. Its message then contains the id.
    #[must_use]
    pub fn task(&self) -> Option<&TaskId> {
        match self {
            Self::WrongState { id, .. }
            | Self::Expired { id }
            | Self::Damaged { id, .. }
            | Self::Refused { id, .. }
            | Self::Unresponsive { id, .. }
            | Self::NoInput { id }
            | Self::NeverReady { id }
            | Self::EndedOnly { id, .. }
            | Self::Invalid(Invalid::NoSuchRun { id, .. } | Invalid::NotAnAgent { id })
            | Self::Denied(Denial::OtherCommand { id }) => Some(id),
            Self::Kept(kept) => Some(&kept.id),
            _ => None,
        }
    }
}

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Self {
        Self::Store(error.into())
    }
}

/// Returns the verb phrase for a status.
fn in_words(status: Status) -> String {
    let word = status.word();
    match status {
        Status::Completed | Status::Failed => format!("has {word}"),
        Status::TimedOut => "has timed out".to_owned(),
        Status::Cancelled | Status::Lost => format!("was {word}"),
        _ => format!("is {word}"),
    }
}

/// Returns whether the system is out of descriptors, processes or memory, as opposed to a missing program.
pub(crate) fn is_shortage(error: &io::Error) -> bool {
    use rustix::io::Errno;
    [Errno::MFILE, Errno::NFILE, Errno::AGAIN, Errno::NOMEM]
        .iter()
        .any(|errno| error.raw_os_error() == Some(errno.raw_os_error()))
}

/// Returns whether the disk is full.
pub(crate) fn is_disk_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}
