//! What a supervisor can be asked over its control socket: one JSON line each way.

use serde::{Deserialize, Serialize};

use crate::task::progress::Progress;
use crate::task::state::Status;
use crate::text::raw_text::RawText;
use crate::time::Timestamp;
use crate::wire::record::ExitRecord;
use crate::wire::start::SessionWatch;

/// The version of control messages.
pub const CONTROL_VERSION: u32 = 1;

/// A request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ControlRequest {
    /// See [`CONTROL_VERSION`].
    pub v: u32,
    /// What to do.
    #[serde(flatten)]
    pub operation: Operation,
}

/// What to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case")]
pub enum Operation {
    /// Say how things are.
    Status,
    /// Answer when the first process has ended and the record is written.
    Wait,
    /// Answer when the log has grown past this logical offset, or the first process has ended.
    Watch {
        /// What the asker has seen.
        offset: u64,
        /// Whether the asker knows of the end and waits for what survivors print.
        #[serde(default)]
        after_end: bool,
    },
    /// Answer when the task is ready, or its first process has ended.
    WaitReady,
    /// Note that the task is ready.
    Ready {
        /// What was seen.
        what: String,
    },
    /// End the whole tree and answer when it is gone.
    Kill {
        /// Who asks.
        by: String,
        /// First signal.
        signal: i32,
        /// Time until SIGKILL; absent = the task's own.
        grace_ms: Option<u64>,
    },
    /// Send a signal to the whole tree, and answer at once: nothing follows, and the task is not asked to end.
    Signal {
        /// Who asks.
        by: String,
        /// Which.
        signal: i32,
    },
    /// Type.
    Input {
        /// Bytes to type.
        data: RawText,
        /// Close standard input after them.
        eof: bool,
    },
    /// Somebody hosts the task's session now.
    LookForHosts,
    /// The task ends with this session from now on.
    BelongTo {
        /// Nothing for one that ends with none.
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
    /// How things are.
    Status {
        /// Whether the first process lives.
        leader_alive: bool,
        /// Processes of the tree, by name; of a large tree not all.
        tree: Vec<Survivor>,
        /// Every process of the tree; of very many not all.
        #[serde(default)]
        pids: Vec<u32>,
        /// What the task last told of its progress.
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
        /// Whether no more is to come from the first process.
        ended: bool,
    },
    /// The task is ready.
    Ready,
    /// The first process has ended.
    Ended {
        /// How.
        record: Box<ExitRecord>,
    },
    /// The tree is gone, or what is left of it is named; of a mere signal, what was sent.
    Killed {
        /// What was done.
        receipt: KillReceipt,
    },
    /// Done.
    Done {
        /// Bytes taken, for input.
        bytes: u64,
        /// Whether the end of input was not taken, for want of room: it has to be sent again.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        eof_due: bool,
    },
    /// Not done.
    Refused {
        /// Why.
        message: String,
    },
}

/// A signal that was sent, and when.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SentSignal {
    /// Its name.
    pub signal: String,
    /// When.
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

/// What a kill did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KillReceipt {
    /// The task.
    pub id: String,
    /// Its state after the kill; `running` after a signal that does not ask it to end.
    pub status: Status,
    /// Who asked.
    pub requested_by: String,
    /// What was sent.
    pub signals: Vec<SentSignal>,
    /// Processes that were signalled and are dead; of very many not all.
    pub killed: Vec<u32>,
    /// How many more there were.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub killed_more: u64,
    /// Processes that are not.
    pub survivors: Vec<Survivor>,
    /// From the request to the death of the last.
    pub duration_ms: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_zero(count: &u64) -> bool {
    *count == 0
}
