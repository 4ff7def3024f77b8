//! The exit record: how a run ended, written once by rename.

use serde::{Deserialize, Serialize};

use crate::task::cause::{Cause, Exit, TimeLimit};
use crate::task::resource_limits::ResourceLimit;
use crate::task::state::Process;
use crate::time::Timestamp;
use crate::wire::control::{SentSignal, Survivor};

/// The version of the exit record.
pub const RECORD_VERSION: u32 = 1;

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

/// `result.json`. The fields from `exit_code` on are those of co-cli.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExitRecord {
    /// See [`RECORD_VERSION`].
    pub version: u32,
    /// Number of the run.
    pub run: u32,
    /// The first process; absent if nothing was spawned.
    #[serde(default)]
    pub process: Option<Process>,
    /// When it was spawned.
    #[serde(default)]
    pub started_at: Option<Timestamp>,
    /// How the first process ended.
    pub exit: Exit,
    /// The cause of an end without a supervisor: cancelled in the queue, skipped, refused, lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unsupervised: Option<Cause>,
    /// The request that came before the end, if any.
    #[serde(default)]
    pub asked: Option<EndRequest>,
    /// The resource limit that the tree exceeded, if that ended it. A separate field, so that an older reader
    /// understands the rest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub struck: Option<ResourceLimit>,
    /// Signals sent up to the end of the first process.
    #[serde(default)]
    pub signals: Vec<SentSignal>,
    /// Bytes that the task printed, including dropped ones.
    pub output_bytes: u64,
    /// Bytes that are not in the log.
    pub dropped_bytes: u64,
    /// Whether output may be missing, because there was no supervisor to read it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub output_lost: bool,
    /// Processes that outlived the first one.
    #[serde(default)]
    pub survivors: Vec<Survivor>,

    /// The exit code; absent after a signal.
    pub exit_code: Option<i32>,
    /// Seconds from spawn to end, on the monotonic clock.
    pub duration_seconds: f64,
    /// When it ended.
    pub completed_at: Timestamp,
    /// Lines on stdout; absent for a large log.
    #[serde(default)]
    pub stdout_lines: Option<u64>,
    /// Lines on stderr; absent for a large log.
    #[serde(default)]
    pub stderr_lines: Option<u64>,
    /// The last line of the output.
    #[serde(default)]
    pub summary: Option<String>,
}

impl ExitRecord {
    /// Returns the record of a run that ended without a supervisor.
    #[must_use]
    pub fn unsupervised(run: u32, cause: Cause, at: Timestamp) -> Self {
        Self {
            version: RECORD_VERSION,
            run,
            process: None,
            started_at: None,
            exit: Exit::Unknown("no supervisor was running".to_owned()),
            unsupervised: Some(cause),
            asked: None,
            struck: None,
            signals: Vec::new(),
            output_bytes: 0,
            dropped_bytes: 0,
            output_lost: false,
            survivors: Vec::new(),
            exit_code: None,
            duration_seconds: 0.0,
            completed_at: at,
            stdout_lines: None,
            stderr_lines: None,
            summary: None,
        }
    }

    /// Returns the cause. A request before the end takes precedence over the exit.
    #[must_use]
    pub fn cause(&self) -> Cause {
        if let Some(cause) = &self.unsupervised {
            return cause.clone();
        }
        let exit = self.exit.clone();
        match (&self.asked, self.struck, exit) {
            (Some(EndRequest::Kill { by }), _, exit) => Cause::Cancelled { by: by.clone(), exit: Some(exit) },
            (Some(EndRequest::Limit(limit)), _, exit) => Cause::TimedOut { limit: *limit, exit: Some(exit) },
            (None, Some(limit), exit) => Cause::LimitReached { limit, exit },
            (None, None, Exit::Code(code)) => Cause::Exited { code },
            (None, None, Exit::Signal { number, core }) => Cause::Signaled { signal: number, core },
            (None, None, Exit::Unknown(reason)) => Cause::Lost { reason },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KILLED: Exit = Exit::Signal { number: 9, core: false };

    fn record(asked: Option<EndRequest>, struck: Option<ResourceLimit>, exit: Exit) -> ExitRecord {
        let lost = Cause::Lost { reason: String::new() };
        let record = ExitRecord::unsupervised(1, lost, Timestamp::default());
        ExitRecord { unsupervised: None, asked, struck, exit, ..record }
    }

    #[test]
    fn a_kill_or_time_limit_takes_precedence_over_a_resource_limit() {
        let memory = Some(ResourceLimit::Memory(1 << 30));
        let kill = EndRequest::Kill { by: "user".to_owned() };
        let cancelled = record(Some(kill), memory, KILLED).cause();
        assert!(matches!(cancelled, Cause::Cancelled { .. }));
        let late = record(Some(EndRequest::Limit(TimeLimit::Run(5))), memory, KILLED).cause();
        assert!(matches!(late, Cause::TimedOut { .. }));
        let struck = record(None, memory, KILLED).cause();
        assert_eq!((struck.to_words().as_str(), struck.signal()), ("memory limit 1 GiB", Some(9)));
        assert_eq!(struck.status(), crate::Status::Failed);
    }

    #[test]
    fn a_run_that_reached_a_limit_failed_even_with_exit_code_zero() {
        let struck = record(None, Some(ResourceLimit::CpuTime(1000)), Exit::Code(0)).cause();
        assert_eq!((struck.status(), struck.exit_code()), (crate::Status::Failed, Some(0)));
    }

    #[test]
    fn the_reached_limit_is_optional_in_a_record() {
        let new = record(None, Some(ResourceLimit::Pids(7)), KILLED);
        let mut value = serde_json::to_value(&new).unwrap();
        assert_eq!(value["struck"]["pids"], 7);
        assert_eq!(serde_json::from_value::<ExitRecord>(value.clone()).unwrap(), new);
        value.as_object_mut().unwrap().remove("struck");
        let old: ExitRecord = serde_json::from_value(value).unwrap();
        assert_eq!(old.cause(), Cause::Signaled { signal: 9, core: false });
        let plain = serde_json::to_value(record(None, None, Exit::Code(0))).unwrap();
        assert!(plain.get("struck").is_none());
    }
}
