//! Why a run ended, and how an exit becomes a state. Different facts are different values.

use serde::{Deserialize, Serialize};

use super::resource_limits::ResourceLimit;
use super::state::Status;
use crate::signal::signal_name;
use crate::text::units::exact_seconds;

/// What the kernel reported about the end of a task's first process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Exit {
    /// It exited with this code.
    Code(i32),
    /// A signal ended it.
    Signal {
        /// The signal's number.
        number: i32,
        /// Whether the kernel wrote a core file.
        core: bool,
    },
    /// No supervisor saw the end; with the reason.
    Unknown(String),
}

/// A limit that ended a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TimeLimit {
    /// The longest run, in milliseconds.
    Run(u64),
    /// The deadline that was set when the task was requested.
    Deadline,
    /// The time limit of the job that runs the task at its place.
    Job,
}

/// What requested the end of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndRequest {
    /// A kill.
    Kill {
        /// The requester.
        by: String,
    },
    /// A time limit.
    Limit(TimeLimit),
}

/// Why a run ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "cause", rename_all = "snake_case")]
pub enum Cause {
    /// It exited.
    Exited {
        /// Its exit code.
        code: i32,
    },
    /// A signal that meanwhile did not send ended it.
    Signaled {
        /// The signal's number.
        signal: i32,
        /// Whether the kernel wrote a core file.
        core: bool,
    },
    /// It was killed on request.
    Cancelled {
        /// The requester.
        by: String,
        /// How the process ended; absent if it never started.
        exit: Option<Exit>,
    },
    /// A time limit was reached.
    TimedOut {
        /// The limit that was reached.
        limit: TimeLimit,
        /// How the process ended; absent if it never started.
        exit: Option<Exit>,
    },
    /// Its processes exceeded a resource limit.
    LimitReached {
        /// The limit that was exceeded.
        limit: ResourceLimit,
        /// How the process ended.
        exit: Exit,
    },
    /// It could not be executed.
    SpawnFailed {
        /// The error of the system.
        message: String,
    },
    /// It ended, or may have ended, while no supervisor was watching.
    Lost {
        /// How that happened.
        reason: String,
    },
    /// A task that it depends on did not complete.
    Skipped {
        /// Which task, and how it ended.
        reason: String,
    },
}

impl Cause {
    /// Returns the cause of a run that a supervisor watched: from the request that came before the end, the resource
    /// limit that the process tree exceeded, and the exit of the first process, in this order.
    #[must_use]
    pub fn of_exit(asked: Option<&EndRequest>, struck: Option<ResourceLimit>, exit: Exit) -> Self {
        match (asked, struck, exit) {
            (Some(EndRequest::Kill { by }), _, exit) => Self::Cancelled { by: by.clone(), exit: Some(exit) },
            (Some(EndRequest::Limit(limit)), _, exit) => Self::TimedOut { limit: *limit, exit: Some(exit) },
            (None, Some(limit), exit) => Self::LimitReached { limit, exit },
            (None, None, Exit::Code(code)) => Self::Exited { code },
            (None, None, Exit::Signal { number, core }) => Self::Signaled { signal: number, core },
            (None, None, Exit::Unknown(reason)) => Self::Lost { reason },
        }
    }

    /// Returns the terminal state this cause leads to.
    #[must_use]
    pub const fn status(&self) -> Status {
        match self {
            Self::Exited { code: 0 } => Status::Completed,
            Self::Exited { .. }
            | Self::Signaled { .. }
            | Self::LimitReached { .. }
            | Self::SpawnFailed { .. } => Status::Failed,
            Self::Cancelled { .. } | Self::Skipped { .. } => Status::Cancelled,
            Self::TimedOut { .. } => Status::TimedOut,
            Self::Lost { .. } => Status::Lost,
        }
    }

    /// Returns the exit of a process that meanwhile did not end.
    const fn ended_by_others(&self) -> Option<&Exit> {
        match self {
            Self::Cancelled { exit, .. } | Self::TimedOut { exit, .. } => exit.as_ref(),
            Self::LimitReached { exit, .. } => Some(exit),
            Self::Exited { .. }
            | Self::Signaled { .. }
            | Self::SpawnFailed { .. }
            | Self::Lost { .. }
            | Self::Skipped { .. } => None,
        }
    }

    /// Returns the exit code of the process, if it exited.
    #[must_use]
    pub const fn exit_code(&self) -> Option<i32> {
        match (self, self.ended_by_others()) {
            (Self::Exited { code }, _) | (_, Some(Exit::Code(code))) => Some(*code),
            (_, Some(Exit::Signal { .. } | Exit::Unknown(_)) | None) => None,
        }
    }

    /// Returns the signal that ended the process, if one did.
    #[must_use]
    pub const fn signal(&self) -> Option<i32> {
        match (self, self.ended_by_others()) {
            (Self::Signaled { signal: number, .. }, _) | (_, Some(Exit::Signal { number, .. })) => {
                Some(*number)
            }
            (_, Some(Exit::Code(_) | Exit::Unknown(_)) | None) => None,
        }
    }

    /// Describes the cause in a few words.
    #[must_use]
    pub fn to_words(&self) -> String {
        match self {
            Self::Exited { code } => format!("exited {code}"),
            Self::Signaled { signal, core: false } => format!("ended by {}", signal_name(*signal)),
            Self::Signaled { signal, core: true } => {
                format!("ended by {} (core dumped)", signal_name(*signal))
            }
            Self::Cancelled { by, exit: None } => format!("cancelled by {by} before it started"),
            Self::Cancelled { by, exit: Some(exit) } => format!("cancelled by {by} ({})", exit.to_words()),
            Self::TimedOut { limit, exit } => {
                let limit = match limit {
                    TimeLimit::Run(ms) => format!("time limit of {}", exact_seconds(*ms)),
                    TimeLimit::Deadline => "deadline".to_owned(),
                    TimeLimit::Job => "time limit of its job".to_owned(),
                };
                match exit {
                    Some(exit) => format!("{limit} reached ({})", exit.to_words()),
                    None => format!("{limit} reached before it started"),
                }
            }
            Self::LimitReached { limit, .. } => limit.to_words(),
            Self::SpawnFailed { message } => format!("could not start: {message}"),
            Self::Lost { reason } => format!("outcome unknown: {reason}"),
            Self::Skipped { reason } => format!("skipped: {reason}"),
        }
    }
}

impl Exit {
    fn to_words(&self) -> String {
        match self {
            Self::Code(code) => format!("exited {code}"),
            Self::Signal { number, .. } => signal_name(*number),
            Self::Unknown(reason) => format!("exit not observed: {reason}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KILLED: Exit = Exit::Signal { number: 9, core: false };

    #[test]
    fn a_kill_or_time_limit_takes_precedence_over_a_resource_limit() {
        let memory = Some(ResourceLimit::Memory(1 << 30));
        let kill = EndRequest::Kill { by: "user".to_owned() };
        assert!(matches!(Cause::of_exit(Some(&kill), memory, KILLED), Cause::Cancelled { .. }));
        let late = EndRequest::Limit(TimeLimit::Run(5));
        assert!(matches!(Cause::of_exit(Some(&late), memory, KILLED), Cause::TimedOut { .. }));
        let struck = Cause::of_exit(None, memory, KILLED);
        assert_eq!((struck.to_words().as_str(), struck.signal()), ("memory limit 1 GiB", Some(9)));
        assert_eq!(struck.status(), Status::Failed);
    }

    #[test]
    fn a_run_that_reached_a_limit_failed_even_with_exit_code_zero() {
        let struck = Cause::of_exit(None, Some(ResourceLimit::CpuTime(1000)), Exit::Code(0));
        assert_eq!((struck.status(), struck.exit_code()), (Status::Failed, Some(0)));
    }
}
