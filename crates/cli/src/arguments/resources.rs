//! The options of `start` and `run` that limit memory, CPU time, CPUs and processes.

use clap::Args;
use meanwhile::engine::model::{Resources, parse_duration_ms, parse_milli_cpus, parse_size};

// No doc comment: it would become the help of both.
#[derive(Args, Default, PartialEq)]
#[cfg_attr(test, derive(Debug))]
pub(crate) struct ResourceArguments {
    /// Maximum memory of all processes of the task together; 0 = no limit
    #[arg(long, value_name = "SIZE", value_parser = parse_size, allow_hyphen_values = true)]
    memory: Option<u64>,
    /// Maximum CPU time of all processes of the task together; 0 = no limit
    #[arg(long, value_name = "DURATION", value_parser = parse_duration_ms, allow_hyphen_values = true)]
    cpu_time: Option<u64>,
    /// Maximum number of CPUs used at a time, such as 1.5; needs cgroup v2; 0 = no limit
    #[arg(long, value_name = "N", value_parser = parse_milli_cpus, allow_hyphen_values = true)]
    cpus: Option<u64>,
    /// Maximum number of processes and threads at a time; 0 = no limit
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pids: Option<u64>,
}

impl ResourceArguments {
    /// Returns the limits, with the options over the settings.
    pub(crate) fn over(&self, settings: &Resources) -> Resources {
        let chosen = |typed: Option<u64>, set: Option<u64>| typed.or(set).filter(|limit| *limit > 0);
        Resources {
            memory: chosen(self.memory, settings.memory),
            cpu_time_ms: chosen(self.cpu_time, settings.cpu_time_ms),
            milli_cpus: chosen(self.cpus, settings.milli_cpus),
            pids: chosen(self.pids, settings.pids),
        }
    }
}
