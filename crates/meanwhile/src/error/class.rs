//! What an error means to a caller: a stable code for programs, and a class from which exit codes and HTTP statuses follow.

use mw_model::wire::RefusalCode;

use super::Error;

/// The stable code of an error, as JSON replies contain it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorCode {
    /// The request is invalid.
    Invalid,
    /// No such task.
    NotFound,
    /// No such approval request.
    NoProposal,
    /// Policy or a person denied it.
    Denied,
    /// Approval is required.
    ApprovalNeeded,
    /// No such trace.
    NoTrace,
    /// Several tasks match.
    Ambiguous,
    /// A live task has this name.
    NameLive,
    /// No slot is free.
    AtCapacity,
    /// Not possible in the task's state.
    WrongState,
    /// The session of an agent has expired.
    SessionExpired,
    /// The program could not be executed.
    SpawnFailed,
    /// The supervisor did not answer.
    Unanswered,
    /// The supervisor program cannot be executed.
    NoSupervisor,
    /// The home is not usable.
    Home,
    /// The task's directory is damaged.
    Damaged,
    /// The path of a task is something else.
    NotATask,
    /// The task, or its supervisor, refuses it.
    Refused,
    /// The database failed.
    Store,
    /// The file system failed.
    Io,
}

impl ErrorCode {
    /// Returns the code as JSON replies contain it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Invalid => "invalid",
            Self::NotFound => "not_found",
            Self::NoProposal => "no_proposal",
            Self::Denied => "denied",
            Self::ApprovalNeeded => "approval_needed",
            Self::NoTrace => "no_trace",
            Self::Ambiguous => "ambiguous",
            Self::NameLive => "name_live",
            Self::AtCapacity => "at_capacity",
            Self::WrongState => "wrong_state",
            Self::SessionExpired => "session_expired",
            Self::SpawnFailed => "spawn_failed",
            Self::Unanswered => "unanswered",
            Self::NoSupervisor => "no_supervisor",
            Self::Home => "home",
            Self::Damaged => "damaged",
            Self::NotATask => "not_a_task",
            Self::Refused => "refused",
            Self::Store => "store",
            Self::Io => "io",
        }
    }
}

/// What a caller can do about an error. Every front end gives each class one exit code or status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorClass {
    /// Change the request.
    Invalid,
    /// Name something that exists.
    NotFound,
    /// Name one of several things.
    Ambiguous,
    /// Do not try again: it is not allowed.
    Denied,
    /// Wait until a person has approved it.
    NeedsApproval,
    /// The state of a task forbids it.
    Conflict,
    /// Try again later.
    Busy,
    /// The program of the command does not exist.
    NoProgram,
    /// The program of the command cannot be executed.
    NotExecutable,
    /// The working directory does not exist.
    NoDirectory,
    /// The command was not executed for another reason.
    NotStarted,
    /// The supervisor is missing or was killed.
    Supervisor,
    /// The files or the database of the home are unusable.
    Storage,
}

impl Error {
    /// Returns the stable code of this error.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Invalid(_) => ErrorCode::Invalid,
            Self::NotFound(_) => ErrorCode::NotFound,
            Self::NoProposal(_) => ErrorCode::NoProposal,
            Self::Denied(_) | Self::NoConsent { .. } => ErrorCode::Denied,
            Self::NeedsApproval { .. } => ErrorCode::ApprovalNeeded,
            Self::NoTrace(_) => ErrorCode::NoTrace,
            Self::Ambiguous { .. } => ErrorCode::Ambiguous,
            Self::NameLive { .. } => ErrorCode::NameLive,
            Self::AtCapacity { .. } => ErrorCode::AtCapacity,
            Self::WrongState { .. } => ErrorCode::WrongState,
            Self::Expired { .. } => ErrorCode::SessionExpired,
            Self::Spawn { .. } => ErrorCode::SpawnFailed,
            Self::Unanswered => ErrorCode::Unanswered,
            Self::Supervisor { .. } => ErrorCode::NoSupervisor,
            Self::Home(_) => ErrorCode::Home,
            Self::Damaged { .. } => ErrorCode::Damaged,
            Self::Foreign { .. } => ErrorCode::NotATask,
            Self::Refused { .. }
            | Self::Unresponsive { .. }
            | Self::Kept(_)
            | Self::NoInput { .. }
            | Self::NeverReady { .. } => ErrorCode::Refused,
            Self::Store(_) => ErrorCode::Store,
            Self::Io { .. } => ErrorCode::Io,
            Self::EndedOnly { source, .. } => source.code(),
        }
    }

    /// Returns what a caller can do about this error.
    #[must_use]
    pub fn class(&self) -> ErrorClass {
        match self {
            Self::Invalid(_) => ErrorClass::Invalid,
            Self::NotFound(_) | Self::NoProposal(_) | Self::NoTrace(_) => ErrorClass::NotFound,
            Self::Ambiguous { .. } => ErrorClass::Ambiguous,
            Self::Denied(_) | Self::NoConsent { .. } => ErrorClass::Denied,
            Self::NeedsApproval { .. } => ErrorClass::NeedsApproval,
            Self::NameLive { .. }
            | Self::WrongState { .. }
            | Self::Expired { .. }
            | Self::Refused { .. }
            | Self::Kept(_)
            | Self::NoInput { .. }
            | Self::NeverReady { .. } => ErrorClass::Conflict,
            Self::AtCapacity { .. } | Self::Unresponsive { .. } => ErrorClass::Busy,
            Self::Spawn { code, .. } => match code {
                RefusalCode::NotFound => ErrorClass::NoProgram,
                RefusalCode::NotExecutable => ErrorClass::NotExecutable,
                RefusalCode::Directory => ErrorClass::NoDirectory,
                _ => ErrorClass::NotStarted,
            },
            Self::Unanswered | Self::Supervisor { .. } => ErrorClass::Supervisor,
            Self::Home(_)
            | Self::Damaged { .. }
            | Self::Foreign { .. }
            | Self::Store(_)
            | Self::Io { .. } => ErrorClass::Storage,
            Self::EndedOnly { source, .. } => source.class(),
        }
    }
}
