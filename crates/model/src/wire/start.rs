//! The start message of a supervisor, and its answer.

use serde::{Deserialize, Serialize};

use crate::task::id::TaskId;
use crate::task::limits::Limits;
use crate::task::spec::Io;
use crate::task::state::Process;
use crate::text::raw_text::RawText;
use crate::time::Timestamp;
use crate::wire::confinement::Confinement;
use crate::wire::refusal_code::RefusalCode;

/// The version of the start message of a task with a driver or a confinement. A supervisor that does not know them
/// refuses it instead of ignoring them.
pub const START_VERSION: u32 = 3;

/// The version of all other start messages. A supervisor that does not know resource limits refuses it.
pub const PLAIN_START_VERSION: u32 = 2;

/// Maximum number of slots that are passed with a start message.
pub const MAX_SLOTS: usize = 2;

/// The first byte of a slot's file while a task holds the slot.
pub const SLOT_HELD: u8 = b'+';

/// The first byte of a slot's file after the slot was returned.
pub const SLOT_FREE: u8 = b'-';

/// The start message, as JSON on the supervisor's standard input.
///
/// Standard input is a socket. The first byte carries the task's directory, so that the supervisor can prepare while
/// this message is still being written. The message carries the task's slots. An end of input before either cancels
/// the start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StartMessage {
    /// [`START_VERSION`] or [`PLAIN_START_VERSION`].
    pub version: u32,
    /// The task's id, for messages.
    pub task: TaskId,
    /// How to start or find the command.
    pub launch: Launch,
    /// How the command's streams are connected.
    pub io: Io,
    /// Limits to enforce.
    pub limits: Limits,
    /// The command line of `mw settle`, executed at the end if tasks are queued or processes wait for events.
    pub settle: Vec<RawText>,
    /// Whether it is executed in any case.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub always_settle: bool,
    /// The command line of the readiness helper, if the task has a readiness condition.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ready: Option<Vec<RawText>>,
    /// Whether the command gets a descriptor for progress reports.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub progress: bool,
    /// Whether the first signal of a kill goes to the first process alone, which ends the others. SIGKILL goes to
    /// all.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub leader_first: bool,
    /// The header of the log, outside all offsets; the supervisor adds a line with the start time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_header: Option<String>,
    /// The session with which the task ends, if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionWatch>,
    /// The content of `metadata.json` before the supervisor adds what it sees; only for tasks of the dialect co-cli.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<super::Metadata>,
    /// The driver of the task's back-end, if it has one. It is executed again when it was killed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub driver: Option<DriverCommand>,
    /// The CPU on which the caller of the starter waits for it. The command begins on another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caller_cpu: Option<u32>,
    /// What the kernel must prevent. Absent if the command is not confined, and for adopted commands, which are confined
    /// already. Boxed because few commands have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confinement: Option<Box<Confinement>>,
}

/// How to execute the driver of a back-end. Its own exit means nothing: `place.json` says how the task ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DriverCommand {
    /// The file to execute; absolute.
    pub program: RawText,
    /// The arguments, beginning with the name of the program.
    pub argv: Vec<RawText>,
    /// Environment, `NAME=value` each.
    pub env: Vec<RawText>,
    /// Working directory; absolute.
    pub cwd: RawText,
}

/// How a supervisor checks whether a session is over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionWatch {
    /// The session's directory.
    pub directory: RawText,
    /// The grace period after the end of the last host.
    pub grace_ms: u64,
    /// Whether it had a host when the task was requested. That host may end before the supervisor checks.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub hosted: bool,
    /// Whether servers count as hosts.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub servers: bool,
}

/// How a supervisor starts or finds the command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Launch {
    /// Execute it.
    Spawn {
        /// The file to execute; absolute.
        program: RawText,
        /// The arguments, beginning with the name of the program.
        argv: Vec<RawText>,
        /// Environment, `NAME=value` each.
        env: Vec<RawText>,
        /// Working directory; absolute.
        cwd: RawText,
        /// File mode creation mask.
        umask: u32,
    },
    /// Adopt a running command whose supervisors are dead.
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
pub enum StartAnswer {
    /// The command was executed.
    Started {
        /// The first process.
        process: Process,
        /// When it was spawned.
        started_at: Timestamp,
    },
    /// It was not executed, and nothing is left behind.
    Refused {
        /// The reason as a code.
        code: RefusalCode,
        /// The reason as text.
        message: String,
    },
}
