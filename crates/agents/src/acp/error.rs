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
    /// It went away before its turn was over.
    #[error("the agent exited before it answered ({how})")]
    Gone {
        /// How its process ended, as far as that is known.
        how: String,
    },
    /// It refused a request of ours.
    #[error("the agent refused {request}: {why}")]
    Refused {
        /// The method.
        request: &'static str,
        /// What it said.
        why: String,
    },
    /// It took too long over a request that takes a moment.
    #[error("the agent did not answer {request} within {seconds} s")]
    Silent {
        /// The method.
        request: &'static str,
        /// How long it was given.
        seconds: u64,
    },
    /// It speaks another protocol.
    #[error("the agent uses protocol version {version}; only version 1 is supported")]
    Version {
        /// Its version.
        version: String,
    },
    /// It stopped without having finished.
    #[error("the agent stopped early: {reason}")]
    Stopped {
        /// Why, in the words of the protocol.
        reason: String,
    },
    /// It was asked to stop, and asked again, and did not.
    #[error("the agent did not end its turn and was killed")]
    Unstopped,
    /// Its conversation is gone.
    #[error("session expired, start a new background_task ({why})")]
    Expired {
        /// What it said.
        why: String,
    },
    /// It cannot take a conversation up again, so it must be kept alive. Said between parts of this program only.
    #[error("the agent must be kept running")]
    NeedsKeeper,
    /// Its end was requested.
    #[error("cancelled")]
    Cancelled,
}
