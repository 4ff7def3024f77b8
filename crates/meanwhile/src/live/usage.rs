//! What a task's tree uses at this moment.

use super::ports::ports_of;
use crate::disk::platform;
use crate::live::Live;
use crate::task::Task;

/// What the living processes of a task use together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Processor time so far, in microseconds, of those that live and of those they have waited for.
    pub cpu_us: u64,
    /// Memory in bytes; what processes share counts for each of them.
    pub memory: u64,
    /// How many processes there are.
    pub processes: u32,
}

impl Live<'_> {
    /// Returns what a task's tree uses; nothing when none of it lives, or this system does not tell.
    #[must_use]
    pub fn usage(&self, task: &Task) -> Option<Usage> {
        let pids = self.tree(task)?;
        let mut sum = Usage::default();
        for (cpu_us, memory) in pids.iter().filter_map(|pid| platform::use_of(*pid)) {
            sum.cpu_us = sum.cpu_us.saturating_add(cpu_us);
            sum.memory = sum.memory.saturating_add(memory);
            sum.processes += 1;
        }
        (sum.processes > 0).then_some(sum)
    }

    /// Returns the ports that a task's tree listens on; nothing when none of it lives.
    #[must_use]
    pub fn ports(&self, task: &Task) -> Option<Vec<u16>> {
        self.tree(task).map(|pids| ports_of(&pids))
    }
}
