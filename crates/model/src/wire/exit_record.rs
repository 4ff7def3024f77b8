//! The exit record: how a run ended, written once by rename.

use serde::{Deserialize, Serialize};

pub use crate::task::cause::EndRequest;
use crate::task::cause::{Cause, Exit};
use crate::task::resource_limits::ResourceLimit;
use crate::task::state::Process;
use crate::time::Timestamp;
use crate::wire::control::{SentSignal, Survivor};

/// The version of the exit record.
pub const RECORD_VERSION: u32 = 1;

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

    /// Returns the milliseconds from spawn to end.
    #[must_use]
    pub fn duration_ms(&self) -> u64 {
        (self.duration_seconds * 1000.0) as u64
    }

    /// Returns the cause.
    #[must_use]
    pub fn cause(&self) -> Cause {
        let of_exit = || Cause::of_exit(self.asked.as_ref(), self.struck, self.exit.clone());
        self.unsupervised.clone().unwrap_or_else(of_exit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KILLED: Exit = Exit::Signal { number: 9, core: false };

    fn record(struck: Option<ResourceLimit>, exit: Exit) -> ExitRecord {
        let lost = Cause::Lost { reason: String::new() };
        let record = ExitRecord::unsupervised(1, lost, Timestamp::default());
        ExitRecord { unsupervised: None, struck, exit, ..record }
    }

    #[test]
    fn the_reached_limit_is_optional_in_a_record() {
        let new = record(Some(ResourceLimit::Pids(7)), KILLED);
        let mut value = serde_json::to_value(&new).unwrap();
        assert_eq!(value["struck"]["pids"], 7);
        assert_eq!(serde_json::from_value::<ExitRecord>(value.clone()).unwrap(), new);
        value.as_object_mut().unwrap().remove("struck");
        let old: ExitRecord = serde_json::from_value(value).unwrap();
        assert_eq!(old.cause(), Cause::Signaled { signal: 9, core: false });
        let plain = serde_json::to_value(record(None, Exit::Code(0))).unwrap();
        assert!(plain.get("struck").is_none());
    }
}
