//! The state of a task. Each state has exactly the data that is valid in it.

use serde::{Deserialize, Serialize};

use super::cause::Cause;
use crate::time::Timestamp;

/// A process that can be identified later, even if its pid is reused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Process {
    /// Process id.
    pub pid: u32,
    /// The start time of the process in ticks since boot, as the kernel reports it.
    pub start_ticks: u64,
    /// The id of the boot that both numbers belong to.
    pub boot_id: String,
}

/// The origin of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunOrigin {
    /// The first start.
    #[default]
    First,
    /// Another run of the same spec.
    Restart,
    /// A follow-up message to a finished agent task.
    Resume,
    /// The task's schedule, after the run before had ended.
    Retry {
        /// How many runs in a row had failed by then.
        failures: u32,
        /// How long the task waited before this run.
        waited_ms: u64,
    },
    /// The task's schedule, because it was due again.
    Repetition,
}

/// A task's state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum TaskState {
    /// Waits for a slot, a time or another task.
    Pending {
        /// Number of the next run, from 1.
        run: u32,
        /// The origin of the run.
        origin: RunOrigin,
        /// It does not start before this time.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        not_before: Option<Timestamp>,
    },
    /// Holds a slot; its supervisor has not answered yet.
    Starting {
        /// Number of the run.
        run: u32,
        /// The origin of the run.
        origin: RunOrigin,
        /// When it got the slot.
        since: Timestamp,
    },
    /// Its first process is alive.
    Running {
        /// Number of the run.
        run: u32,
        /// The origin of the run.
        origin: RunOrigin,
        /// The first process.
        process: Process,
        /// When it was spawned.
        started_at: Timestamp,
        /// When it became ready, if it did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ready: Option<Timestamp>,
    },
    /// Its end was requested, and it is not dead yet.
    Cancelling {
        /// Number of the run.
        run: u32,
        /// The first process.
        process: Process,
        /// When it was spawned.
        started_at: Timestamp,
        /// The requester.
        by: String,
        /// The origin of the run.
        #[serde(default)]
        origin: RunOrigin,
        /// When it became ready, if it did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ready: Option<Timestamp>,
    },
    /// It has ended.
    Ended {
        /// Number of the run.
        run: u32,
        /// When it was spawned, if it was.
        started_at: Option<Timestamp>,
        /// When it ended.
        ended_at: Timestamp,
        /// The cause of the end.
        cause: Cause,
        /// The origin of the run.
        #[serde(default)]
        origin: RunOrigin,
        /// When it became ready, if it did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ready: Option<Timestamp>,
        /// Whether output may be missing, because there was no supervisor to read it for a while.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        output_lost: bool,
    },
}

/// The word for a state, as used in lists, filters and hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Not started yet.
    Pending,
    /// Running.
    Running,
    /// Running again on a follow-up message.
    Resumed,
    /// Signalled, not dead yet.
    Cancelling,
    /// Ended with exit code 0.
    Completed,
    /// Exited with another code, ended by a signal, or could not start.
    Failed,
    /// Ended on request.
    Cancelled,
    /// Ended by a time limit.
    TimedOut,
    /// Ended without a supervisor watching.
    Lost,
}

impl Status {
    /// Every status.
    pub const ALL: [Self; 9] = [
        Self::Pending,
        Self::Running,
        Self::Resumed,
        Self::Cancelling,
        Self::Completed,
        Self::Failed,
        Self::Cancelled,
        Self::TimedOut,
        Self::Lost,
    ];

    /// Returns the word.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Running => "running",
            Self::Resumed => "resumed",
            Self::Cancelling => "cancelling",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::TimedOut => "timed_out",
            Self::Lost => "lost",
        }
    }

    /// Parses the word.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.word() == word)
    }

    /// Returns whether the task has ended.
    #[must_use]
    pub const fn is_terminal(self) -> bool {
        match self {
            Self::Pending | Self::Running | Self::Resumed | Self::Cancelling => false,
            Self::Completed | Self::Failed | Self::Cancelled | Self::TimedOut | Self::Lost => true,
        }
    }

    /// Returns whether the status is a failure. An end on request is not a failure.
    #[must_use]
    pub const fn is_error(self) -> bool {
        match self {
            Self::Failed | Self::TimedOut | Self::Lost => true,
            Self::Pending
            | Self::Running
            | Self::Resumed
            | Self::Cancelling
            | Self::Completed
            | Self::Cancelled => false,
        }
    }
}

impl TaskState {
    /// Returns the word for this state.
    #[must_use]
    pub const fn status(&self) -> Status {
        match self {
            Self::Pending { .. } | Self::Starting { .. } => Status::Pending,
            Self::Running { origin: RunOrigin::Resume, .. } => Status::Resumed,
            Self::Running { .. } => Status::Running,
            Self::Cancelling { .. } => Status::Cancelling,
            // Only a completed task has follow-ups, and the result of a follow-up does not change that.
            Self::Ended { origin: RunOrigin::Resume, .. } => Status::Completed,
            Self::Ended { cause, .. } => cause.status(),
        }
    }

    /// Returns the number of the current or last run.
    #[must_use]
    pub const fn run(&self) -> u32 {
        match self {
            Self::Pending { run, .. }
            | Self::Starting { run, .. }
            | Self::Running { run, .. }
            | Self::Cancelling { run, .. }
            | Self::Ended { run, .. } => *run,
        }
    }

    /// Returns the origin of the current or last run.
    #[must_use]
    pub const fn origin(&self) -> RunOrigin {
        match self {
            Self::Pending { origin, .. }
            | Self::Starting { origin, .. }
            | Self::Running { origin, .. }
            | Self::Cancelling { origin, .. }
            | Self::Ended { origin, .. } => *origin,
        }
    }

    /// Returns the time before which a queued task does not start.
    #[must_use]
    pub const fn not_before(&self) -> Option<Timestamp> {
        match self {
            Self::Pending { not_before, .. } => *not_before,
            Self::Starting { .. } | Self::Running { .. } | Self::Cancelling { .. } | Self::Ended { .. } => {
                None
            }
        }
    }

    /// Returns the first process while it is alive.
    #[must_use]
    pub const fn process(&self) -> Option<&Process> {
        match self {
            Self::Running { process, .. } | Self::Cancelling { process, .. } => Some(process),
            Self::Pending { .. } | Self::Starting { .. } | Self::Ended { .. } => None,
        }
    }

    /// Returns when the current or last run was spawned.
    #[must_use]
    pub const fn started_at(&self) -> Option<Timestamp> {
        match self {
            Self::Running { started_at, .. } | Self::Cancelling { started_at, .. } => Some(*started_at),
            Self::Ended { started_at, .. } => *started_at,
            Self::Pending { .. } | Self::Starting { .. } => None,
        }
    }

    /// Returns when the current or last run became ready, if it did.
    #[must_use]
    pub const fn ready(&self) -> Option<Timestamp> {
        match self {
            Self::Running { ready, .. } | Self::Cancelling { ready, .. } | Self::Ended { ready, .. } => {
                *ready
            }
            Self::Pending { .. } | Self::Starting { .. } => None,
        }
    }

    /// Returns whether the task holds one of its session's slots.
    #[must_use]
    pub const fn holds_slot(&self) -> bool {
        match self {
            Self::Starting { .. } | Self::Running { .. } | Self::Cancelling { .. } => true,
            Self::Pending { .. } | Self::Ended { .. } => false,
        }
    }
}
