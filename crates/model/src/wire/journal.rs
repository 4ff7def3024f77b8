//! The journal: what a supervisor observed and did, for its successors.

use serde::{Deserialize, Serialize};

use crate::task::cause::TimeLimit;
use crate::task::progress::Progress;
use crate::task::resource_limits::{Enforcement, ResourceLimit};
use crate::task::state::Process;
use crate::text::raw_text::RawText;
use crate::time::Timestamp;
use crate::wire::confinement::Enforcer;
use crate::wire::start::SessionWatch;

/// The version of journal lines.
pub const JOURNAL_VERSION: u32 = 1;

/// One line of `journal.jsonl`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JournalLine {
    /// See [`JOURNAL_VERSION`].
    pub v: u32,
    /// The time.
    pub at: Timestamp,
    /// The run it belongs to.
    pub run: u32,
    /// The event.
    #[serde(flatten)]
    pub entry: JournalEntry,
}

impl JournalLine {
    /// Returns the lines of a run.
    pub fn of_run(journal: &[Self], run: u32) -> impl Iterator<Item = &Self> {
        journal.iter().filter(move |line| line.run == run)
    }

    /// Returns what `read` returns for the first entry of a run for which it returns anything.
    pub fn find<'a, T>(
        journal: &'a [Self],
        run: u32,
        mut read: impl FnMut(&'a JournalEntry) -> Option<T>,
    ) -> Option<T> {
        Self::of_run(journal, run).find_map(|line| read(&line.entry))
    }
}

/// An observation or action of a supervisor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "entry", rename_all = "snake_case")]
pub enum JournalEntry {
    /// The command is about to be executed. If no line follows, it is unknown whether it was.
    Spawning {
        /// Inodes of the pipes of stdout and stderr, by which an adopter finds them.
        #[serde(default)]
        pipes: [u64; 2],
        /// Directory of its control group, if it has one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cgroup: Option<RawText>,
        /// How its resource limits are enforced, if it has any.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        enforcement: Option<Enforcement>,
    },
    /// It could not be executed.
    NotExecuted {
        /// The error.
        message: String,
    },
    /// The command was executed.
    Started {
        /// The first process.
        process: Process,
        /// The time.
        started_at: Timestamp,
        /// What enforces its confinement, if it is confined.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        confined_by: Option<Vec<Enforcer>>,
    },
    /// The driver of a back-end was executed again, because it was killed. The task itself runs elsewhere.
    DriverStarted {
        /// The new first process.
        process: Process,
        /// Inodes of the pipes of stdout and stderr.
        pipes: [u64; 2],
    },
    /// A kill was requested; written before the first signal.
    KillRequested {
        /// The requester.
        by: String,
        /// The first signal.
        signal: i32,
        /// Time until SIGKILL; absent = the task's own.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        grace_ms: Option<u64>,
    },
    /// A time limit was reached; written before the first signal.
    LimitReached {
        /// The limit.
        limit: TimeLimit,
    },
    /// The tree exceeded a resource limit; written before the first signal.
    ResourceLimitReached {
        /// The limit.
        limit: ResourceLimit,
    },
    /// Silence after a prompt.
    Stalled {
        /// The last line.
        prompt: String,
    },
    /// The task is ready; once per run, and before its end.
    Ready {
        /// The reason.
        what: String,
    },
    /// The task reported progress; not every report is recorded.
    Progress {
        /// The progress.
        progress: Progress,
    },
    /// A host of the task's session was seen; once for each session.
    Hosted,
    /// The task ends with another session from now on.
    Belongs {
        /// The session; `None` if the task no longer ends with a session.
        session: Option<SessionWatch>,
    },
    /// A guardian or an adopter took over.
    TakenOver {
        /// `guardian` or `adopter`.
        by: String,
    },
    /// The last process of the tree is gone.
    TreeEmpty {
        /// Bytes that the task printed, including those of processes that outlived the first one and dropped ones.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        output_bytes: Option<u64>,
        /// Bytes that are not in the log.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        dropped_bytes: Option<u64>,
    },
}
