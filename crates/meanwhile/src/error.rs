//! Errors as an agent or a person meets them: a stable code, one sentence, and what to do next.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use mw_model::Status;
use mw_model::approval::Proposal;
use mw_model::wire::RefusalCode;

use crate::disk::store::StoreError;

mod hint;
mod reason;

pub(crate) use hint::LACK_HINT;
pub use reason::{Denial, ForeignEntry, HomeProblem, Invalid, NoConsent};

/// The result of an operation.
pub type Result<T> = std::result::Result<T, Error>;

/// Why an operation was not done. Nothing was changed unless the text says so.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The request itself is bad.
    #[error(transparent)]
    Invalid(Invalid),
    /// No task has this id or name.
    #[error("no task {0:?}")]
    NotFound(String),
    /// No approval request has this id.
    #[error("no approval request {0:?}")]
    NoProposal(String),
    /// It is not allowed.
    #[error(transparent)]
    Denied(Denial),
    /// A person was asked for approval, and did not give it.
    #[error("not allowed: {why}: {what}")]
    NoConsent {
        /// Why.
        why: NoConsent,
        /// What was to be done.
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
        /// What was asked for.
        handle: String,
        /// The tasks that match.
        found: Vec<String>,
    },
    /// The name belongs to a live task.
    #[error("the name {name:?} is in use by {id} ({})", status.word())]
    NameLive {
        /// The name.
        name: String,
        /// Who has it.
        id: String,
        /// That task's state.
        status: Status,
    },
    /// No slot is free and the request may not wait.
    #[error("max concurrent tasks ({limit}) reached")]
    AtCapacity {
        /// The limit.
        limit: u32,
    },
    /// The task is not in a state for this.
    #[error("{id} {}: {message}", in_words(*status))]
    WrongState {
        /// The task.
        id: String,
        /// Its state.
        status: Status,
        /// Why that does not fit.
        message: String,
    },
    /// The agent of a task can no longer be talked to.
    #[error("{id}: session expired, start a new background_task")]
    Expired {
        /// The task.
        id: String,
    },
    /// The program could not be executed.
    #[error("cannot start: {message}")]
    Spawn {
        /// Why.
        code: RefusalCode,
        /// What happened.
        message: String,
    },
    /// The supervisor ended before it answered; the command was not executed.
    #[error("the supervisor exited before it started the command")]
    Unanswered,
    /// The supervisor program itself cannot be run.
    #[error("cannot run the supervisor {}: {source}", path.display())]
    Supervisor {
        /// Where it should be.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The home cannot be used.
    #[error(transparent)]
    Home(HomeProblem),
    /// The task's directory is damaged.
    #[error("{id}: {message}")]
    Damaged {
        /// The task.
        id: String,
        /// What is wrong.
        message: String,
    },
    /// Something that is not a task has the path of a task's directory.
    #[error("{} is {what}, not a task", path.display())]
    Foreign {
        /// The task with that id.
        id: String,
        /// The path.
        path: PathBuf,
        /// What it is.
        what: ForeignEntry,
    },
    /// The task's supervisor refused, or cannot be reached.
    #[error("{id}: {message}")]
    Refused {
        /// The task.
        id: String,
        /// What it said.
        message: String,
    },
    /// The task was started without an input to write to.
    #[error("{id}: it was started without an open standard input")]
    NoInput {
        /// The task.
        id: String,
    },
    /// Nobody waits for the task to become ready, because it was started without a readiness condition.
    #[error("{id}: it was started without a readiness condition")]
    NeverReady {
        /// The task.
        id: String,
    },
    /// A task was ended for a restart, and could not be started again.
    #[error("{id} was ended but could not be restarted: {source}")]
    EndedOnly {
        /// The task.
        id: String,
        /// Why not.
        source: Box<Error>,
    },
    /// The database failed.
    #[error("database error: {0}")]
    Store(#[from] StoreError),
    /// The file system failed.
    #[error("{what}: {source}")]
    Io {
        /// What was being done, to what.
        what: String,
        /// What the system said.
        source: io::Error,
    },
}

impl Error {
    /// Names a failed file operation.
    pub(crate) fn io(what: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let what = what.into();
        move |source| Self::Io { what, source }
    }

    /// Returns an error about a request, in the words of the caller.
    #[must_use]
    pub fn invalid(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Invalid(Invalid::Other { message: message.into(), hint: hint.into() })
    }

    /// Tells whether this process has no descriptor, process or memory left: whatever it does next fails likewise.
    #[must_use]
    pub fn is_lack(&self) -> bool {
        match self {
            Self::Io { source, .. } | Self::Supervisor { source, .. } => is_lack(source),
            Self::Spawn { code, .. } => *code == RefusalCode::Lack,
            Self::EndedOnly { source, .. } => source.is_lack(),
            Self::Store(StoreError::Unopened(error)) => is_lack(error),
            Self::Invalid(_)
            | Self::NotFound(_)
            | Self::NoProposal(_)
            | Self::Denied(_)
            | Self::NoConsent { .. }
            | Self::NeedsApproval { .. }
            | Self::NoTrace(_)
            | Self::Ambiguous { .. }
            | Self::NameLive { .. }
            | Self::AtCapacity { .. }
            | Self::WrongState { .. }
            | Self::Expired { .. }
            | Self::Unanswered
            | Self::Home(_)
            | Self::Damaged { .. }
            | Self::Foreign { .. }
            | Self::Refused { .. }
            | Self::NoInput { .. }
            | Self::NeverReady { .. }
            | Self::Store(_) => false,
        }
    }

    /// Tells whether a task that could not be started for this may be later, with nothing changed about it.
    pub(crate) fn is_for_now(&self) -> bool {
        match self {
            Self::Unanswered => true,
            Self::Spawn { code, .. } if *code == RefusalCode::NoRoom => true,
            other => other.is_lack(),
        }
    }

    /// Returns the stable code for this error.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Invalid(_) => "invalid",
            Self::NotFound(_) => "not_found",
            Self::NoProposal(_) => "no_proposal",
            Self::Denied(_) | Self::NoConsent { .. } => "denied",
            Self::NeedsApproval { .. } => "approval_needed",
            Self::NoTrace(_) => "no_trace",
            Self::Ambiguous { .. } => "ambiguous",
            Self::NameLive { .. } => "name_live",
            Self::AtCapacity { .. } => "at_capacity",
            Self::WrongState { .. } => "wrong_state",
            Self::Expired { .. } => "session_expired",
            Self::Spawn { .. } => "spawn_failed",
            Self::Unanswered => "unanswered",
            Self::Supervisor { .. } => "no_supervisor",
            Self::Home(_) => "home",
            Self::Damaged { .. } => "damaged",
            Self::Foreign { .. } => "not_a_task",
            Self::Refused { .. } | Self::NoInput { .. } | Self::NeverReady { .. } => "refused",
            Self::Store(_) => "store",
            Self::Io { .. } => "io",
            Self::EndedOnly { source, .. } => source.code(),
        }
    }
}

/// Returns the verb phrase for a state.
fn in_words(status: Status) -> String {
    let word = status.word();
    match status {
        Status::Completed | Status::Failed => format!("has {word}"),
        Status::TimedOut => "has timed out".to_owned(),
        Status::Cancelled | Status::Lost => format!("was {word}"),
        _ => format!("is {word}"),
    }
}

/// Tells whether the system had no descriptor, process or memory left, as opposed to a program that is not there.
pub(crate) fn is_lack(error: &io::Error) -> bool {
    use rustix::io::Errno;
    [Errno::MFILE, Errno::NFILE, Errno::AGAIN, Errno::NOMEM]
        .iter()
        .any(|errno| error.raw_os_error() == Some(errno.raw_os_error()))
}

/// Tells whether the disk has no room for something.
pub(crate) fn is_lack_of_room(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}
