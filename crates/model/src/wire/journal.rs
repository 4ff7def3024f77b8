//! What a supervisor saw, kept so that whoever comes after it knows as much.

use serde::{Deserialize, Serialize};

use crate::task::cause::TimeLimit;
use crate::task::progress::Progress;
use crate::task::resource_limits::{Enforcement, ResourceLimit};
use crate::task::state::Process;
use crate::text::raw_text::RawText;
use crate::time::Timestamp;
use crate::wire::start::SessionWatch;

/// The version of journal lines.
pub const JOURNAL_VERSION: u32 = 1;

/// One line of `journal.jsonl`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JournalLine {
    /// See [`JOURNAL_VERSION`].
    pub v: u32,
    /// When it was seen.
    pub at: Timestamp,
    /// The run it belongs to.
    pub run: u32,
    /// What was seen.
    #[serde(flatten)]
    pub entry: JournalEntry,
}

/// Something a supervisor saw or did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "entry", rename_all = "snake_case")]
pub enum JournalEntry {
    /// The command is about to be executed. Without a line that follows, nobody knows whether it was.
    Spawning {
        /// Inodes of the pipes that are its stdout and stderr, by which an adopter finds them again.
        #[serde(default)]
        pipes: [u64; 2],
        /// Directory of its control group, where it has one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cgroup: Option<RawText>,
        /// How its limits on resources are held, where it has any.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        enforcement: Option<Enforcement>,
    },
    /// It could not be executed.
    NotExecuted {
        /// What the system said.
        message: String,
    },
    /// The command was executed.
    Started {
        /// The first process.
        process: Process,
        /// When.
        started_at: Timestamp,
    },
    /// Somebody asked for the end; written before the first signal.
    KillRequested {
        /// Who.
        by: String,
        /// With which signal.
        signal: i32,
        /// Time until SIGKILL; absent = the task's own.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        grace_ms: Option<u64>,
    },
    /// A time limit struck; written before the first signal.
    LimitReached {
        /// Which one.
        limit: TimeLimit,
    },
    /// The tree exceeded a limit on resources; written before the first signal.
    ResourceLimitReached {
        /// Which one.
        limit: ResourceLimit,
    },
    /// Silence after a prompt.
    Stalled {
        /// The last line.
        prompt: String,
    },
    /// What the task was to be ready for has come true; once per run, and before its end.
    Ready {
        /// What was seen.
        what: String,
    },
    /// The task told how far it has come; now and then.
    Progress {
        /// What it told.
        progress: Progress,
    },
    /// Somebody hosts the session with which the task ends; once for each session.
    Hosted,
    /// The task ends with another session from now on.
    Belongs {
        /// Nothing for one that ends with none.
        session: Option<SessionWatch>,
    },
    /// A stand-in or an adopter took over.
    TakenOver {
        /// Which.
        by: String,
    },
    /// The last process of the tree is gone.
    TreeEmpty {
        /// Bytes the task printed, with those of the processes that outlived the first; dropped ones included.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        output_bytes: Option<u64>,
        /// Bytes that are not in the log.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        dropped_bytes: Option<u64>,
    },
}
