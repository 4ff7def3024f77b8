//! Resource limits: measures the tree when that is due, and ends a tree that exceeds a limit.

use mw_model::signal::{SIGKILL, SIGTERM, SIGXCPU};
use mw_model::wire::JournalEntry;
use mw_model::{Enforcement, Exit, ResourceLimit, Resources, TreeSample};

use super::supervise::Supervisor;
use crate::clock;
use crate::sys;

impl Supervisor {
    /// When to measure next; not while the tree is being ended.
    pub(crate) fn resources_due_ms(&self) -> Option<u64> {
        self.resource_schedule.as_ref().filter(|_| self.ending.is_none()).and_then(|watch| watch.due_ms)
    }

    /// Measures the tree when that is due, and ends it if it exceeds a limit.
    pub(crate) fn check_resources(&mut self, now: u64) {
        if self.resources_due_ms().is_none_or(|due| now < due) {
            return;
        }
        let Some(watch) = &self.resource_schedule else { return };
        let before_us = clock::own_cpu_us();
        let (usage, struck) = self.measure(&watch.limits, watch.enforcement);
        let cost_us = clock::own_cpu_us().saturating_sub(before_us);
        if let Some(watch) = &mut self.resource_schedule {
            watch.looked(&usage, cost_us, clock::monotonic_ms());
        }
        if let Some(limit) = struck {
            self.end_for_limit(limit);
        }
    }

    /// Returns what the tree uses, as far as its limits need it, and the limit that it exceeds.
    fn measure(&self, limits: &Resources, how: Enforcement) -> (TreeSample, Option<ResourceLimit>) {
        match (&self.run.cgroup, how) {
            (Some(group), Enforcement::ControlGroup) => {
                (TreeSample { cpu_us: group.cpu_us(), ..TreeSample::default() }, group.exceeded(limits))
            }
            (Some(_) | None, Enforcement::Sampled) | (None, Enforcement::ControlGroup) => {
                let usage = self.sample(limits);
                (usage, limits.struck_by(&usage))
            }
        }
    }

    /// Adds up the tree.
    ///
    /// Shared memory is counted for every process at first. Only if the sum exceeds the limit, it is divided among
    /// the processes that share it, which takes the kernel much longer.
    fn sample(&self, limits: &Resources) -> TreeSample {
        let ours: Vec<u32> = [self.settle, self.run.board.helper.get()].into_iter().flatten().collect();
        let group = self.run.cgroup.as_ref().map(|group| group.pids()).unwrap_or_default();
        let mut usage = TreeSample { cpu_us: self.run.board.spent_us.get(), ..TreeSample::default() };
        let each = self.tree.usage(&ours, group, limits.pids.unwrap_or(u64::MAX));
        for process in &each {
            usage.memory = usage.memory.saturating_add(process.memory);
            usage.cpu_us = usage.cpu_us.saturating_add(process.cpu_us);
            usage.pids = usage.pids.saturating_add(process.threads);
        }
        if limits.memory.is_some_and(|most| usage.memory > most) {
            usage.memory = each
                .iter()
                .map(|process| sys::proportional_memory(process.pid).unwrap_or(process.memory))
                .fold(0, u64::saturating_add);
        }
        usage
    }

    /// Ends the tree because of a limit.
    fn end_for_limit(&mut self, limit: ResourceLimit) {
        // A process that has ended by itself was not ended by a limit, even if its end was not noticed yet.
        let was_over = self.record.is_some();
        self.notice_end();
        match (was_over, self.record.is_some()) {
            (false, false) => self.exceeded = Some(limit),
            // Its survivors are another tree.
            (false, true) => return,
            (true, _) => {}
        }
        let entry = JournalEntry::ResourceLimitReached { limit };
        self.journal(entry);
        let signal = signal_for(limit);
        self.grace_ms = self.run.message.limits.timeout_grace_ms;
        if signal == SIGKILL {
            self.kill_group();
        }
        self.begin_ending(None, signal);
    }

    /// Returns the limit for which the kernel ended the first process, if it did.
    pub(crate) fn exceeded_at_end(&self, exit: &Exit) -> Option<ResourceLimit> {
        let Exit::Signal { number, .. } = exit else { return None };
        let watch = self.resource_schedule.as_ref().filter(|_| self.ending.is_none())?;
        let (_, struck) = self.measure(&watch.limits, watch.enforcement);
        struck.filter(|limit| match (limit, watch.enforcement) {
            (ResourceLimit::Memory(_), Enforcement::ControlGroup) => *number == SIGKILL,
            (ResourceLimit::CpuTime(_), _) => matches!(*number, SIGKILL | SIGXCPU),
            // Only this process ends a tree for these.
            (ResourceLimit::Memory(_), Enforcement::Sampled) | (ResourceLimit::Pids(_), _) => false,
        })
    }
}

/// Returns the first signal for a tree that exceeds a limit. If it exceeds memory or processes, there is no grace period.
pub(crate) const fn signal_for(limit: ResourceLimit) -> i32 {
    match limit {
        ResourceLimit::Memory(_) | ResourceLimit::Pids(_) => SIGKILL,
        ResourceLimit::CpuTime(_) => SIGTERM,
    }
}
