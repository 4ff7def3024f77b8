//! Errors as an agent or a person meets them: a stable code, one sentence, and what to do next.

use std::io;
use std::path::PathBuf;

use mw_model::approval::Proposal;
use mw_model::wire::LACK;

use crate::disk::store::StoreError;

/// The result of an operation.
pub type Result<T> = std::result::Result<T, Error>;

/// What to do when this process has no descriptor, process or memory left.
pub(crate) const LACK_HINT: &str = "raise what this shell may use (ulimit -a), or end what uses it";

/// Why an operation was not done. Nothing was changed unless the text says so.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The request itself is bad.
    #[error("{message}")]
    Invalid {
        /// What is wrong with it.
        message: String,
        /// What to write instead.
        hint: String,
    },
    /// No task answers to this handle.
    #[error("no task {0:?}")]
    NotFound(String),
    /// No proposal answers to this id.
    #[error("no proposal {0:?}")]
    NoProposal(String),
    /// Policy or a person said no.
    #[error("{message}")]
    Denied {
        /// To what, and why.
        message: String,
        /// What to do instead.
        hint: String,
    },
    /// A person was asked, and it did not come to a yes.
    #[error("not allowed: {why}: {what}")]
    NoConsent {
        /// Why: they said no, or did not answer in time.
        why: String,
        /// To what.
        what: String,
        /// What to do.
        hint: String,
    },
    /// A person has to be asked, and has not answered.
    #[error("{message}")]
    NeedsApproval {
        /// What, and why.
        message: String,
        /// What to do.
        hint: String,
        /// The question, which stands open for a while.
        proposal: Box<Proposal>,
    },
    /// No span, trace or task with a trace answers to this name.
    #[error("no trace is known for {0:?}")]
    NoTrace(String),
    /// Several tasks do.
    #[error("{handle:?} fits {} tasks: {}", found.len(), found.join(", "))]
    Ambiguous {
        /// What was asked for.
        handle: String,
        /// Which fit.
        found: Vec<String>,
    },
    /// The name belongs to a live task.
    #[error("the name {name:?} belongs to {id}, which is {status}")]
    NameLive {
        /// The name.
        name: String,
        /// Who has it.
        id: String,
        /// That task's state.
        status: &'static str,
    },
    /// No slot is free and the request may not wait.
    #[error("max concurrent tasks ({limit}) reached")]
    AtCapacity {
        /// The limit.
        limit: u32,
    },
    /// The task is not in a state for this.
    #[error("{id} is {status}: {message}")]
    WrongState {
        /// The task.
        id: String,
        /// Its state.
        status: &'static str,
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
        /// The supervisor's word for it: `not_found`, `not_executable`, `cwd`, `system`, …
        code: String,
        /// What happened.
        message: String,
    },
    /// The supervisor ended before it answered; the command was not executed.
    #[error("the supervisor ended before it could start the command")]
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
    #[error("{message}")]
    Home {
        /// What is wrong with it.
        message: String,
        /// What to do about it.
        hint: String,
    },
    /// The task's directory is damaged.
    #[error("{id}: {message}")]
    Damaged {
        /// The task.
        id: String,
        /// What is wrong.
        message: String,
    },
    /// What stands under a task's name is none of our tasks.
    #[error("{} is {what}, not a task", path.display())]
    Foreign {
        /// The task whose name it has.
        id: String,
        /// Where it stands.
        path: PathBuf,
        /// What it is.
        what: String,
        /// What to do about it.
        hint: String,
    },
    /// The task's supervisor refused, or cannot be reached.
    #[error("{id}: {message}")]
    Refused {
        /// The task.
        id: String,
        /// What it said.
        message: String,
    },
    /// A task was ended so that it can run again, and then it could not.
    #[error("{id} was ended, and could not be started again: {source}")]
    EndedOnly {
        /// The task.
        id: String,
        /// Why not.
        source: Box<Error>,
    },
    /// The database failed.
    #[error("the database failed: {0}")]
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

    /// Tells whether this process has no descriptor, process or memory left: whatever it does next fails likewise.
    pub(crate) fn is_lack(&self) -> bool {
        match self {
            Self::Io { source, .. } | Self::Supervisor { source, .. } => is_lack(source),
            Self::Spawn { code, .. } => code == LACK,
            Self::EndedOnly { source, .. } => source.is_lack(),
            Self::Store(StoreError::Unopened(error)) => is_lack(error),
            Self::Invalid { .. }
            | Self::NotFound(_)
            | Self::NoProposal(_)
            | Self::Denied { .. }
            | Self::NoConsent { .. }
            | Self::NeedsApproval { .. }
            | Self::NoTrace(_)
            | Self::Ambiguous { .. }
            | Self::NameLive { .. }
            | Self::AtCapacity { .. }
            | Self::WrongState { .. }
            | Self::Expired { .. }
            | Self::Unanswered
            | Self::Home { .. }
            | Self::Damaged { .. }
            | Self::Foreign { .. }
            | Self::Refused { .. }
            | Self::Store(_) => false,
        }
    }

    /// Tells whether a task that could not be started for this may be later, with nothing changed about it.
    pub(crate) fn is_for_now(&self) -> bool {
        match self {
            Self::Unanswered => true,
            Self::Spawn { code, .. } if code == "no_room" => true,
            other => other.is_lack(),
        }
    }

    /// Returns the stable code for this error.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Invalid { .. } => "invalid",
            Self::NotFound(_) => "not_found",
            Self::NoProposal(_) => "no_proposal",
            Self::Denied { .. } | Self::NoConsent { .. } => "denied",
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
            Self::Home { .. } => "home",
            Self::Damaged { .. } => "damaged",
            Self::Foreign { .. } => "not_a_task",
            Self::Refused { .. } => "refused",
            Self::Store(_) => "store",
            Self::Io { .. } => "io",
            Self::EndedOnly { source, .. } => source.code(),
        }
    }

    /// Returns what to do next.
    #[must_use]
    pub fn hint(&self) -> String {
        match self {
            Self::Invalid { hint, .. }
            | Self::Home { hint, .. }
            | Self::Denied { hint, .. }
            | Self::Foreign { hint, .. }
            | Self::NoConsent { hint, .. }
            | Self::NeedsApproval { hint, .. } => hint.clone(),
            Self::NoProposal(_) => "mw approvals lists what is asked, mw approvals --history what was".to_owned(),
            Self::NotFound(_) => "mw list shows the tasks that can be named here".to_owned(),
            Self::NoTrace(_) => {
                "mw traces lists those that are known: a span id has 16 hex digits, a trace id 32; tasks that are removed take theirs along".to_owned()
            }
            Self::Ambiguous { .. } => "write more of the id".to_owned(),
            Self::NameLive { id, .. } => {
                format!("choose another name, use --if-running return or restart, or end it: mw kill {id}")
            }
            Self::AtCapacity { .. } => "end a task first (mw kill), or let this one wait: --at-capacity queue".to_owned(),
            Self::WrongState { id, .. } => format!("mw status {id} shows where it stands"),
            Self::Expired { id } => {
                format!("its answers stay (mw status {id}); ask anew: mw agent 'prompt'")
            }
            Self::Spawn { code, .. } => match code.as_str() {
                "not_found" => "check the program's name and PATH".to_owned(),
                "cwd" => "check the directory given with --cwd".to_owned(),
                LACK => LACK_HINT.to_owned(),
                "not_executable" => "check the file's permissions and format".to_owned(),
                "no_control_group" => {
                    "leave --cpus (limits.cpus) out, or start it from a group that can be divided: systemd-run --user --scope mw start …; --cpu-time works everywhere".to_owned()
                }
                _ => "check free disk space and process limits".to_owned(),
            },
            Self::Unanswered => "try again; mw doctor says whether mw-supervisor works".to_owned(),
            Self::Supervisor { source, .. } | Self::Io { source, .. } if is_lack(source) => LACK_HINT.to_owned(),
            Self::Supervisor { .. } => {
                "install mw, mw-surfaces and mw-supervisor side by side (cargo install --locked --path crates/cli), or name it in MEANWHILE_SUPERVISOR".to_owned()
            }
            Self::Damaged { id, .. } => format!("mw clear {id} removes it"),
            Self::Refused { id, .. } => format!("mw status {id} shows where it stands"),
            Self::EndedOnly { id, source } => format!("{}; then: mw restart {id}", source.hint()),
            Self::Store(error) => error.hint(),
            Self::Io { .. } => "check permissions and free space of the home directory".to_owned(),
        }
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
