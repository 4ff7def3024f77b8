//! What a notification reports, and its text.

use serde::{Deserialize, Serialize};

use crate::dialects::Dialect;
use crate::signal::signal_name;
use crate::task::cause::{Cause, TimeLimit};
use crate::task::event::Event;
use crate::task::id::TaskId;
use crate::task::state::Status;
use crate::text::cut::clipped;
use crate::text::units::seconds;
use crate::time::Timestamp;

/// Prefix of the last line of an agent's log while the agent waits for an answer.
pub const AGENT_WAITS: &str = "⏸ waiting:";

/// What a notification reports.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "news", rename_all = "snake_case")]
pub enum NoticeKind {
    /// A run ended.
    Ended {
        /// The cause of the end.
        cause: Cause,
    },
    /// The task is silent and seems to wait for an answer.
    Stalled {
        /// The last line it printed.
        prompt: String,
    },
    /// Its readiness condition is met.
    Ready {
        /// What was seen: a line, or a port.
        what: String,
    },
    /// The last task of its batch ended.
    Batch {
        /// The name of the batch.
        batch: String,
        /// How many of its tasks completed.
        completed: u64,
        /// How many did not complete.
        others: u64,
    },
}

impl NoticeKind {
    /// Returns what the owner of a task is notified of when an event happens to it. The end of a batch has no event.
    #[must_use]
    pub fn of(event: &Event) -> Option<Self> {
        match event {
            Event::Ended { cause, .. } => Some(Self::Ended { cause: cause.clone() }),
            Event::Stalled { prompt } => Some(Self::Stalled { prompt: prompt.clone() }),
            Event::Ready { what, .. } => Some(Self::Ready { what: what.clone() }),
            Event::Reserved { .. }
            | Event::Released
            | Event::Started { .. }
            | Event::KillRequested { .. }
            | Event::Requeued { .. }
            | Event::Progress { .. }
            | Event::MovedToBackground { .. }
            | Event::Reassigned { .. }
            | Event::TreeEmpty => None,
        }
    }

    /// Returns the kind under which it is stored: one notification for each task, run and kind.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Ended { .. } => "ended",
            Self::Stalled { .. } => "stalled",
            Self::Ready { .. } => "ready",
            Self::Batch { .. } => "batch",
        }
    }

    /// Returns the word for it, unless the dialect has another one.
    #[must_use]
    pub const fn status(&self) -> &'static str {
        match self {
            Self::Ended { cause: Cause::Exited { .. } } => "exited",
            Self::Ended {
                cause: Cause::Signaled { .. } | Cause::LimitReached { .. } | Cause::SpawnFailed { .. },
            } => "failed",
            Self::Ended { cause: Cause::Cancelled { .. } } => "killed",
            Self::Ended { cause: Cause::TimedOut { .. } } => "timed_out",
            Self::Ended { cause: Cause::Lost { .. } } => "lost",
            Self::Ended { cause: Cause::Skipped { .. } } => "skipped",
            Self::Stalled { .. } => "stalled",
            Self::Ready { .. } => "ready",
            Self::Batch { .. } => "batch_done",
        }
    }

    /// Returns the exit code, if there is one.
    #[must_use]
    pub const fn exit_code(&self) -> Option<i32> {
        match self {
            Self::Ended { cause } => cause.exit_code(),
            Self::Stalled { .. } | Self::Ready { .. } | Self::Batch { .. } => None,
        }
    }

    /// Describes what happened in a few words.
    #[must_use]
    pub fn in_words(&self) -> String {
        let by = |signal: Option<i32>| signal.map_or_else(String::new, |s| format!(" ({})", signal_name(s)));
        match self {
            Self::Ended { cause } => match cause {
                Cause::Signaled { signal, .. } => format!("ended by {}", signal_name(*signal)),
                Cause::Cancelled { by: who, .. } => format!("killed by {who}{}", by(cause.signal())),
                Cause::TimedOut { limit: TimeLimit::Run(ms), .. } => {
                    format!("timed out after {}{}", seconds(*ms), by(cause.signal()))
                }
                Cause::TimedOut { limit: TimeLimit::Deadline, .. } => {
                    format!("ended at its deadline{}", by(cause.signal()))
                }
                Cause::TimedOut { limit: TimeLimit::Job, .. } => {
                    format!("ended at the time limit of its job{}", by(cause.signal()))
                }
                Cause::Lost { reason } => format!("lost: {reason}"),
                Cause::Exited { .. }
                | Cause::LimitReached { .. }
                | Cause::SpawnFailed { .. }
                | Cause::Skipped { .. } => format!("{}{}", cause.to_words(), by(cause.signal())),
            },
            Self::Ready { what } => format!("is ready: {what}"),
            Self::Batch { batch, completed, others: 0 } => {
                format!("all {completed} tasks of batch {batch} have completed")
            }
            Self::Batch { batch, completed, others } => {
                format!("batch {batch} is done: {completed} completed, {others} did not")
            }
            Self::Stalled { prompt } if prompt.starts_with(AGENT_WAITS) => {
                let what = prompt.trim_start_matches(AGENT_WAITS).trim_start();
                format!("is waiting for {what}; it continues when the user answers, or after a timeout")
            }
            Self::Stalled { prompt } => format!(
                "is waiting for input after the prompt {prompt:?}; kill it and run it again with the answer piped in, or with an option such as --yes"
            ),
        }
    }
}

/// A notification, as it is handed to an owner.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notice {
    /// Its unique number. A recipient that has seen it can ignore a repetition.
    pub number: i64,
    /// The task.
    pub task: TaskId,
    /// The name of the task in its dialect, which the owner knows.
    pub handle: String,
    /// The name the user gave it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The dialect of the text. Notifications of earlier builds have none, and include their words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dialect: Option<Dialect>,
    /// The run it is about.
    pub run: u32,
    /// When it happened.
    pub at: Timestamp,
    /// What happened.
    #[serde(flatten)]
    pub kind: NoticeKind,
    /// The command, on one line.
    pub command: String,
    /// Where the output is.
    pub output_path: String,
    /// How long the run took.
    pub duration_ms: Option<u64>,
    /// How many processes of the task outlived it and are still alive.
    #[serde(default, skip_serializing_if = "crate::text::units::is_zero")]
    pub survivors: u32,
    /// What the output says about the outcome, on one line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
    /// The answer of an agent: all of it, or its beginning and how many bytes are missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// The report file next to the log, if the task left one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report: Option<String>,
}

/// How many characters of a command a summary includes.
const LONGEST_COMMAND: usize = 200;

impl Notice {
    /// Returns whether it reports the end of a run.
    #[must_use]
    pub const fn is_ending(&self) -> bool {
        matches!(self.kind, NoticeKind::Ended { .. })
    }

    /// Returns the word for the state in its dialect.
    #[must_use]
    pub fn status(&self) -> &'static str {
        match (&self.kind, self.dialect) {
            (NoticeKind::Ended { cause }, Some(dialect)) => dialect.word(cause.status(), Some(cause)),
            (_, None | Some(Dialect::Canonical)) => self.kind.status(),
            (NoticeKind::Stalled { .. } | NoticeKind::Ready { .. }, Some(dialect)) => {
                dialect.word(Status::Running, None)
            }
            (NoticeKind::Batch { others: 0, .. }, Some(dialect)) => dialect.word(Status::Completed, None),
            (NoticeKind::Batch { .. }, Some(dialect)) => dialect.word(Status::Failed, None),
        }
    }

    /// Returns the exit code that its dialect shows, if there is one.
    #[must_use]
    pub fn exit_code(&self) -> Option<i32> {
        match (&self.kind, self.dialect) {
            (NoticeKind::Ended { cause }, Some(dialect)) => dialect.exit_code(cause),
            _ => self.kind.exit_code(),
        }
    }

    /// Returns the duration of the run: `4.2s`.
    #[must_use]
    pub fn took(&self) -> Option<String> {
        self.duration_ms.map(seconds)
    }

    /// Returns everything on one line: `cargo test (4.2s) — exited 0`.
    #[must_use]
    pub fn summary(&self) -> String {
        if matches!(self.kind, NoticeKind::Batch { .. }) {
            return self.kind.in_words();
        }
        let plain = |c: char| if c.is_control() && !matches!(c, '\n' | '\r' | '\t') { '\u{fffd}' } else { c };
        let command: String = clipped(&self.command, LONGEST_COMMAND).chars().map(plain).collect();
        let time = self.took().map_or_else(String::new, |took| format!(" ({took})"));
        format!("{command}{time} — {}{}", self.kind.in_words(), self.left())
    }

    /// Describes the processes that are still running.
    fn left(&self) -> String {
        match self.survivors {
            0 => String::new(),
            1 => "; 1 process that it started still runs".to_owned(),
            many => format!("; {many} processes that it started still run"),
        }
    }

    /// Returns the sentence of co-cli: `Background task task_… completed: 89 passed. See …/output.log`.
    pub(super) fn sentence(&self) -> String {
        let Self { handle, output_path, .. } = self;
        let what = match &self.kind {
            NoticeKind::Batch { .. } => return self.kind.in_words(),
            NoticeKind::Ready { .. } | NoticeKind::Stalled { .. } => format!(" {}", self.kind.in_words()),
            NoticeKind::Ended { .. } => {
                let outcome = self.outcome.clone().unwrap_or_else(|| self.kind.in_words());
                format!(" {}: {outcome}{}", self.status(), self.left())
            }
        };
        let report = self.report.as_ref().map(|report| format!(". Report at {report}")).unwrap_or_default();
        format!("Background task {handle}{what}. See {output_path}{report}")
    }
}
