//! Requests to a supervisor over its control socket, and its replies: one JSON line each way.

use serde::{Deserialize, Serialize};

use crate::task::id::TaskId;
use crate::task::progress::Progress;
use crate::task::state::Status;
use crate::text::raw_text::RawText;
use crate::time::Timestamp;
use crate::wire::exit_record::ExitRecord;
use crate::wire::start::SessionWatch;

/// The version of control messages.
pub const CONTROL_VERSION: u32 = 1;

/// A request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ControlRequest {
    /// See [`CONTROL_VERSION`].
    pub v: u32,
    /// The operation.
    #[serde(flatten)]
    pub operation: Operation,
}

/// An operation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case")]
pub enum Operation {
    /// Report the current state.
    Status,
    /// Answer when the first process has ended and the record is written.
    Wait,
    /// Answer when the log has grown past this logical offset, or the first process has ended.
    Watch {
        /// The offset that the client has seen.
        offset: u64,
        /// Whether the client knows of the end and waits for output of survivors.
        #[serde(default)]
        after_end: bool,
    },
    /// Answer when the task is ready, or its first process has ended.
    WaitReady,
    /// Record that the task is ready.
    Ready {
        /// The reason.
        what: String,
    },
    /// End the whole tree and answer when it is gone.
    Kill {
        /// The requester.
        by: String,
        /// The first signal.
        signal: i32,
        /// Time until SIGKILL; absent = the task's own.
        grace_ms: Option<u64>,
    },
    /// Send a signal to the whole tree and answer immediately. The task is not asked to end, and no other signal
    /// follows.
    Signal {
        /// The requester.
        by: String,
        /// The number of the signal.
        signal: i32,
    },
    /// Write to standard input or the terminal.
    Input {
        /// The bytes.
        data: RawText,
        /// Close standard input after them.
        eof: bool,
    },
    /// A host of the task's session has come or gone.
    LookForHosts,
    /// The task ends with this session from now on.
    BelongTo {
        /// The session; `None` if the task no longer ends with a session.
        session: Option<SessionWatch>,
    },
    /// Change the terminal's size.
    Resize {
        /// Lines.
        rows: u16,
        /// Columns.
        cols: u16,
    },
}

/// A reply.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "reply", rename_all = "snake_case")]
pub enum ControlReply {
    /// The current state.
    Status {
        /// Whether the first process is alive.
        leader_alive: bool,
        /// Processes of the tree with their commands; not all of a large tree.
        tree: Vec<Survivor>,
        /// The pids of the tree; not all of a very large tree.
        #[serde(default)]
        pids: Vec<u32>,
        /// The latest progress of the task.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        progress: Option<Progress>,
        /// Logical end of the output.
        output_bytes: u64,
        /// Bytes that are not in the log.
        dropped_bytes: u64,
    },
    /// The log has grown, or the first process has ended.
    Grown {
        /// Logical end of the output.
        output_bytes: u64,
        /// Whether the first process has ended.
        ended: bool,
    },
    /// The task is ready.
    Ready,
    /// The first process has ended.
    Ended {
        /// The exit record.
        record: Box<ExitRecord>,
    },
    /// The tree is gone, or its survivors are listed. After a signal that does not end the task, the signal that was
    /// sent.
    Killed {
        /// The receipt.
        receipt: KillReceipt,
    },
    /// Done.
    Done {
        /// The number of bytes taken, for input.
        bytes: u64,
        /// Whether the end of input did not fit and must be sent again.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        eof_due: bool,
    },
    /// Not done.
    Refused {
        /// The reason.
        message: String,
    },
}

/// A signal that was sent, and when.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SentSignal {
    /// Its name.
    pub signal: String,
    /// The time.
    pub at: Timestamp,
}

/// A process of a task's tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Survivor {
    /// Process id.
    pub pid: u32,
    /// Its command line, shortened.
    pub command: String,
}

/// The receipt of a kill.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KillReceipt {
    /// The task.
    pub id: TaskId,
    /// Its state after the kill; `running` after a signal that does not ask it to end.
    pub status: Status,
    /// The requester.
    pub requested_by: String,
    /// The signals that were sent.
    pub signals: Vec<SentSignal>,
    /// Processes that were signalled and are dead; at most 4096.
    pub killed: Vec<u32>,
    /// How many more there were.
    #[serde(default, skip_serializing_if = "crate::text::units::is_zero")]
    pub killed_more: u64,
    /// Processes that are still alive.
    pub survivors: Vec<Survivor>,
    /// The time from the request to the end of the last process.
    pub duration_ms: u64,
}

impl KillReceipt {
    /// Returns whether the run had ended by itself before the request.
    #[must_use]
    pub fn of_ended_run(&self) -> bool {
        self.status.is_terminal() && self.status != Status::Cancelled
    }
}
