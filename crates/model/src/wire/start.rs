//! The one message a supervisor takes and the one line it answers.

use serde::{Deserialize, Serialize};

use crate::task::limits::Limits;
use crate::task::spec::Io;
use crate::task::state::Process;
use crate::text::raw_text::RawText;
use crate::time::Timestamp;
use crate::wire::refusal_code::RefusalCode;

/// The version of the start message. A supervisor that would not hold limits on resources refuses the second.
pub const START_VERSION: u32 = 2;

/// How many slots can be passed on along with a start message.
pub const MOST_SLOTS: usize = 2;

/// What a slot's file begins with from when it is passed on until it is given back.
pub const SLOT_HELD: u8 = b'+';

/// What it begins with when it was given back.
pub const SLOT_FREE: u8 = b'-';

/// What a supervisor is told on its standard input, as JSON.
///
/// Standard input is a socket. The first byte brings the task's directory with it, so that the supervisor can
/// get ready there while this message is still being written; the message brings the slots that the task holds
/// until its end. End of input before either means that the start was called off.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StartMessage {
    /// See [`START_VERSION`].
    pub version: u32,
    /// The task's id, for messages.
    pub task: String,
    /// How to get to the command.
    pub launch: Launch,
    /// How the command's streams are connected.
    pub io: Io,
    /// Limits to enforce.
    pub limits: Limits,
    /// What to execute as the last act, if anybody waits for that.
    pub settle: Vec<RawText>,
    /// Whether that is to be done even if nobody waits for it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub always_settle: bool,
    /// What to run beside the task until it is ready, if anybody wants to know when it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ready: Option<Vec<RawText>>,
    /// Whether the command gets a descriptor to tell its progress on.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub progress: bool,
    /// Whether the first signal of a kill goes to the command alone, which sees to the rest. SIGKILL goes to all.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub leader_first: bool,
    /// Lines to put at the head of the log, outside all offsets; one that says when the run began follows them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_header: Option<String>,
    /// The session with which the task ends, where it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionWatch>,
    /// What to write into `metadata.json`, along with what is seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<super::Metadata>,
}

/// How a supervisor knows that a session is over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionWatch {
    /// Where its hosts hold their files.
    pub directory: RawText,
    /// How long after the death of the last host another may take its place.
    pub grace_ms: u64,
    /// Whether somebody hosted it when the task was started. That one may die before the supervisor looks.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub hosted: bool,
    /// Whether a server keeps the task alive as a host does.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub servers: bool,
}

/// How a supervisor gets to the command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Launch {
    /// Execute it.
    Spawn {
        /// The file to execute; absolute.
        program: RawText,
        /// Arguments, the first being the name it is called by.
        argv: Vec<RawText>,
        /// Environment, `NAME=value` each.
        env: Vec<RawText>,
        /// Working directory; absolute.
        cwd: RawText,
        /// File mode creation mask.
        umask: u32,
    },
    /// It runs already: both of its supervisors are gone.
    Adopt {
        /// The first process, as the journal names it.
        process: Process,
        /// When it was spawned.
        started_at: Timestamp,
    },
}

/// The answer, as one JSON line on standard output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// The command was executed.
    Started {
        /// The first process.
        process: Process,
        /// When it was spawned.
        started_at: Timestamp,
    },
    /// It was not, and nothing is left behind.
    Refused {
        /// Why.
        code: RefusalCode,
        /// What happened.
        message: String,
    },
}
