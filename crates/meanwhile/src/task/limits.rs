//! The resource limits of a task, as front ends see them.

use mw_model::{Enforcement, Resources};
use serde::Serialize;

/// The resource limits of a task's process tree.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TaskLimits {
    /// Bytes of memory.
    pub memory: Option<u64>,
    /// Milliseconds of CPU time.
    pub cpu_time_ms: Option<u64>,
    /// Number of processors.
    pub cpus: Option<f64>,
    /// Number of processes and threads.
    pub pids: Option<u64>,
    /// How the limits of the current or last run are enforced; `None` before the first run.
    pub enforcement: Option<Enforcement>,
    /// The limits as requested.
    #[serde(skip)]
    pub resources: Resources,
}

impl TaskLimits {
    /// Returns the limits; `None` if there are none.
    pub(crate) fn of(resources: &Resources, enforcement: Option<Enforcement>) -> Option<Self> {
        (!resources.is_none()).then(|| Self {
            memory: resources.memory,
            cpu_time_ms: resources.cpu_time_ms,
            cpus: resources.milli_cpus.map(|thousandths| thousandths as f64 / 1000.0),
            pids: resources.pids,
            enforcement,
            resources: *resources,
        })
    }

    /// Returns the limits as text: `memory 2 GiB (sampled), pids 200 (sampled)`.
    #[must_use]
    pub fn to_words(&self) -> String {
        self.resources.to_words(self.enforcement)
    }
}
