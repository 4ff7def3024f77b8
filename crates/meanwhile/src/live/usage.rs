//! Current resource usage of a task's processes.

use super::ports::ports_of;
use crate::disk::platform;
use crate::live::Live;
use crate::task::Task;

/// Resource usage of all live processes of a task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TaskUsage {
    /// Processor time so far, in microseconds, of the live processes and the children they have waited for.
    pub cpu_us: u64,
    /// Memory in bytes; shared memory counts for each process.
    pub memory: u64,
    /// Number of processes.
    pub processes: u32,
}

impl Live<'_> {
    /// Returns the resource usage of a task's tree; `None` if no process is alive or this system does not report
    /// usage.
    #[must_use]
    pub fn usage(&self, task: &Task) -> Option<TaskUsage> {
        let pids = self.tree(task)?;
        let mut sum = TaskUsage::default();
        for (cpu_us, memory) in pids.iter().filter_map(|pid| platform::use_of(*pid)) {
            sum.cpu_us = sum.cpu_us.saturating_add(cpu_us);
            sum.memory = sum.memory.saturating_add(memory);
            sum.processes += 1;
        }
        (sum.processes > 0).then_some(sum)
    }

    /// Returns the ports that a task's tree listens on; `None` if no process is alive.
    #[must_use]
    pub fn ports(&self, task: &Task) -> Option<Vec<u16>> {
        self.tree(task).map(|pids| ports_of(&pids))
    }
}
