//! The limits that a draft sets itself; all others come from the settings.

use std::time::{Duration, SystemTime};

use mw_model::{Limits, Resources, Timestamp, millis};

/// The limits that a draft sets.
#[derive(Clone, Debug, Default)]
pub(super) struct OwnLimits {
    pub(super) run_timeout: Option<Duration>,
    pub(super) deadline: Option<SystemTime>,
    pub(super) output_cap: Option<u64>,
    pub(super) stall: Option<Duration>,
    pub(super) kill_grace: Option<Duration>,
    pub(super) resources: Resources,
}

impl OwnLimits {
    /// Takes the limits that the draft does not set from the settings.
    pub(super) fn over(&self, usual: &Limits) -> Limits {
        let (own, usual_resources) = (self.resources, usual.resources);
        Limits {
            run_timeout_ms: self.run_timeout.map(millis).or(usual.run_timeout_ms),
            deadline: self.deadline.map(Timestamp::from).or(usual.deadline),
            output_cap: self.output_cap.unwrap_or(usual.output_cap),
            stall_ms: self.stall.map_or(usual.stall_ms, millis),
            kill_grace_ms: self.kill_grace.map_or(usual.kill_grace_ms, millis),
            resources: Resources {
                memory: own.memory.or(usual_resources.memory),
                cpu_time_ms: own.cpu_time_ms.or(usual_resources.cpu_time_ms),
                milli_cpus: own.milli_cpus.or(usual_resources.milli_cpus),
                pids: own.pids.or(usual_resources.pids),
            },
            ..usual.clone()
        }
    }
}
