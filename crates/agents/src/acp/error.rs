//! Reasons why a turn ended without an answer.

/// Why a turn ended without an answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AcpError {
    /// The program could not be run.
    #[error("the agent {command:?} could not be started: {why}")]
    NotStarted {
        /// The program.
        command: String,
        /// What the system said.
        why: String,
    },
    /// It exited before its turn ended.
    #[error("the agent exited before it answered ({how})")]
    Gone {
        /// How its process ended, as far as that is known.
        how: String,
    },
    /// The agent refused a request.
    #[error("the agent refused {request}: {why}")]
    Refused {
        /// The method.
        request: &'static str,
        /// What it said.
        why: String,
        /// Whether it says that it recorded the message before it failed. Only our own agent does.
        is_recorded: bool,
    },
    /// It did not answer a request in time.
    #[error("the agent did not answer {request} within {seconds} s")]
    Silent {
        /// The method.
        request: &'static str,
        /// The time limit.
        seconds: u64,
    },
    /// It speaks another protocol.
    #[error("the agent uses protocol version {version}; only version 1 is supported")]
    Version {
        /// Its version.
        version: String,
    },
    /// It ended its turn early.
    #[error("the agent stopped early: {reason}")]
    Stopped {
        /// The stop reason of the protocol.
        reason: String,
    },
    /// It was asked twice to stop and did not.
    #[error("the agent did not end its turn and was killed")]
    Unstopped,
    /// It no longer has the session.
    #[error("{} ({why})", mw_model::SESSION_EXPIRED)]
    Expired {
        /// What it said.
        why: String,
    },
    /// It cannot load a session, so its process must be kept. Never shown to a person.
    #[error("the agent must be kept running")]
    NeedsKeeper,
    /// Its end was requested.
    #[error("cancelled")]
    Cancelled,
}

impl AcpError {
    /// The agent has exited. How is not known yet.
    pub(crate) const fn gone() -> Self {
        Self::Gone { how: String::new() }
    }

    pub(crate) fn no_event_loop(error: &std::io::Error) -> Self {
        Self::NotStarted { command: "the event loop".to_owned(), why: error.to_string() }
    }
}
