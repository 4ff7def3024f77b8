//! Limits on memory, CPU time, CPUs and processes of a task's process tree.
//!
//! The kernel enforces a limit if the task has a control group for it. Otherwise the supervisor samples the tree;
//! [`Resources::struck_by`] evaluates a sample, and [`Resources::pause_ms`] decides when to take the next.

use serde::{Deserialize, Serialize};

use crate::text::units::exact_seconds;

/// Limits on the resources of a task; absent = no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resources {
    /// Memory of all its processes together, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<u64>,
    /// Processor time of all its processes together, including ended ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_time_ms: Option<u64>,
    /// Processors that it may keep busy at a time, in thousandths.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub milli_cpus: Option<u64>,
    /// Processes and threads it may have at a time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pids: Option<u64>,
}

/// The resource limit that ended a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResourceLimit {
    /// Bytes of memory.
    Memory(u64),
    /// Milliseconds of CPU time.
    CpuTime(u64),
    /// Processes and threads.
    Pids(u64),
}

/// How the limits of a run are enforced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Enforcement {
    /// By the kernel, in a separate control group.
    ControlGroup,
    /// By sampling the tree.
    Sampled,
}

/// Resource usage of a tree in one sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TreeSample {
    /// Bytes of memory.
    pub memory: u64,
    /// Processor time, in microseconds.
    pub cpu_us: u64,
    /// Processes and threads.
    pub pids: u64,
}

/// What decides when to take the next sample, besides the usage.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// Number of processors of this machine.
    pub processors: u64,
    /// Processor time that the last sample took.
    pub cost_us: u64,
    /// Whether the tree has used no CPU time since the previous sample.
    pub idle: bool,
}

/// A limit that is out of range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutOfRange {
    /// The limit's name.
    pub name: &'static str,
    /// The valid values besides 0, which means no limit.
    pub takes: &'static str,
}

impl Resources {
    /// Minimum and maximum of a memory limit, in bytes.
    pub const MEMORY: (u64, u64) = (1 << 20, 1 << 50);
    /// Maximum CPU time in milliseconds: ten years.
    pub const MAX_CPU_TIME_MS: u64 = 3650 * 86_400_000;
    /// Minimum and maximum number of processors, in thousandths. The kernel does not accept less.
    pub const MILLI_CPUS: (u64, u64) = (10, 10_000_000);
    /// Minimum and maximum number of processes. Linux has no larger process ids.
    pub const PIDS: (u64, u64) = (1, 1 << 22);

    /// Returns whether there is no limit.
    #[must_use]
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// Checks the range of every limit that is set.
    ///
    /// # Errors
    /// When a limit is out of range; the error names the first one.
    pub fn check(&self) -> Result<(), OutOfRange> {
        let outside =
            |value: Option<u64>, (least, most)| value.is_some_and(|value| value < least || value > most);
        let limits = [
            ("memory", outside(self.memory, Self::MEMORY), "a size from 1 MiB to 1 PiB"),
            ("cpu-time", outside(self.cpu_time_ms, (1, Self::MAX_CPU_TIME_MS)), "a time up to 3650 days"),
            ("cpus", outside(self.milli_cpus, Self::MILLI_CPUS), "a number from 0.01 to 10000"),
            ("pids", outside(self.pids, Self::PIDS), "a whole number from 1 to 4194304"),
        ];
        match limits.into_iter().find(|(_, outside, _)| *outside) {
            Some((name, _, takes)) => Err(OutOfRange { name, takes }),
            None => Ok(()),
        }
    }

    /// Returns the limit that this usage exceeds, if any.
    #[must_use]
    pub fn struck_by(&self, usage: &TreeSample) -> Option<ResourceLimit> {
        let memory = self.memory.filter(|most| usage.memory > *most).map(ResourceLimit::Memory);
        let pids = self.pids.filter(|most| usage.pids > *most).map(ResourceLimit::Pids);
        let spent = |ms: &u64| usage.cpu_us >= ms.saturating_mul(1000);
        let cpu_time = self.cpu_time_ms.filter(spent).map(ResourceLimit::CpuTime);
        memory.or(pids).or(cpu_time)
    }

    /// Returns how long to wait before the next sample: about the time in which a fast tree could go from this usage
    /// to its nearest limit. Expensive samples and samples of an idle tree are taken less often.
    #[must_use]
    pub fn pause_ms(&self, usage: &TreeSample, pace: Pace) -> u64 {
        /// Memory that a program can fill in a millisecond.
        const MEMORY_PER_MS: u64 = 4 << 20;
        /// Processes that a program can start in a millisecond.
        const PIDS_PER_MS: u64 = 5;
        const SHORTEST_MS: u64 = 20;
        const SHORTEST_IDLE_MS: u64 = 200;
        const LONGEST_MS: u64 = 500;
        /// Processor time grows at most as fast as there are processors, so the next sample can be later.
        const LONGEST_FOR_CPU_TIME_MS: u64 = 10_000;
        /// Sampling uses at most a tenth of one processor.
        const LOOK_SHARE: u64 = 10;
        let memory = self.memory.map(|most| most.saturating_sub(usage.memory) / MEMORY_PER_MS);
        let pids = self.pids.map(|most| most.saturating_sub(usage.pids) / PIDS_PER_MS);
        let cpu_time = self.cpu_time_ms.map(|most| {
            let left = most.saturating_sub(usage.cpu_us / 1000) / pace.processors.max(1);
            left.clamp(SHORTEST_MS, LONGEST_FOR_CPU_TIME_MS)
        });
        let least = if pace.idle { SHORTEST_IDLE_MS } else { SHORTEST_MS };
        let sudden = memory.into_iter().chain(pids).min().map(|ms| ms.clamp(least, LONGEST_MS));
        let pause = sudden.into_iter().chain(cpu_time).min().unwrap_or(LONGEST_FOR_CPU_TIME_MS);
        pause.max(pace.cost_us.saturating_mul(LOOK_SHARE) / 1000)
    }

    /// Describes the limits, each with how it is enforced if that is known: `memory 2 GiB (sampled)`.
    #[must_use]
    pub fn to_words(&self, enforcement: Option<Enforcement>) -> String {
        let how = |exact: bool| match (enforcement, exact) {
            (None, _) => "",
            (Some(Enforcement::ControlGroup), true) => " (exact)",
            (Some(Enforcement::ControlGroup), false) | (Some(Enforcement::Sampled), _) => " (sampled)",
        };
        let memory = self.memory.map(|bytes| format!("memory {}{}", size_words(bytes), how(true)));
        // The CPU time of a control group must be sampled too.
        let cpu_time = self.cpu_time_ms.map(|ms| format!("CPU time {}{}", exact_seconds(ms), how(false)));
        let cpus = self.milli_cpus.map(|cpus| format!("{} CPUs{}", cpus as f64 / 1000.0, how(true)));
        let pids = self.pids.map(|pids| format!("pids {pids}{}", how(true)));
        [memory, cpu_time, cpus, pids].into_iter().flatten().collect::<Vec<_>>().join(", ")
    }
}

impl ResourceLimit {
    /// Describes the limit: `memory limit 2 GiB`.
    #[must_use]
    pub fn to_words(&self) -> String {
        match self {
            Self::Memory(bytes) => format!("memory limit {}", size_words(*bytes)),
            Self::CpuTime(ms) => format!("CPU time limit {}", exact_seconds(*ms)),
            Self::Pids(most) => format!("pids limit {most}"),
        }
    }
}

/// Formats a size in the largest unit in which it is a whole number of tenths.
fn size_words(bytes: u64) -> String {
    let units = [(1_u64 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    let fits = |unit: u64| bytes >= unit && u128::from(bytes) * 10 % u128::from(unit) == 0;
    match units.into_iter().find(|(unit, _)| fits(*unit)) {
        Some((unit, name)) => format!("{} {name}", bytes as f64 / unit as f64),
        None => format!("{bytes} bytes"),
    }
}

#[cfg(test)]
#[path = "resource_limits_tests.rs"]
mod tests;
