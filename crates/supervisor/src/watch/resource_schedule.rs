//! When a tree with resource limits is measured. Time is passed in.

use mw_model::{Enforcement, Pace, Resources, TreeSample};

/// The time until the first measurement.
const FIRST_MS: u64 = 20;
/// How often a control group is checked for refused forks.
const ASK_GROUP_MS: u64 = 500;

/// The resource limits of a run, how they are enforced, and when to measure next.
pub(crate) struct ResourceSchedule {
    pub(crate) limits: Resources,
    pub(crate) enforcement: Enforcement,
    processors: u64,
    pub(crate) due_ms: Option<u64>,
    cpu_us: u64,
}

impl ResourceSchedule {
    /// Returns nothing for a run without limits.
    pub(crate) fn of(limits: &Resources, enforcement: Enforcement, now_ms: u64) -> Option<Self> {
        if limits.is_none() {
            return None;
        }
        let processors = std::thread::available_parallelism().map_or(1, |count| count.get() as u64);
        let looks = match enforcement {
            // If a group runs out of memory, its end is seen without measuring.
            Enforcement::ControlGroup => limits.pids.is_some() || limits.cpu_time_ms.is_some(),
            Enforcement::Sampled => true,
        };
        let due_ms = looks.then_some(now_ms + FIRST_MS);
        Some(Self { limits: *limits, enforcement, processors, due_ms, cpu_us: 0 })
    }

    /// Plans the next measurement after one that took this much CPU time.
    pub(crate) fn looked(&mut self, usage: &TreeSample, cost_us: u64, now_ms: u64) {
        let pace = Pace { processors: self.processors, cost_us, idle: usage.cpu_us == self.cpu_us };
        self.cpu_us = usage.cpu_us;
        let pause = match self.enforcement {
            Enforcement::Sampled => self.limits.pause_ms(usage, pace),
            Enforcement::ControlGroup => {
                let time = Resources { memory: None, pids: None, ..self.limits };
                let most = if self.limits.pids.is_some() { ASK_GROUP_MS } else { u64::MAX };
                time.pause_ms(usage, pace).min(most)
            }
        };
        self.due_ms = Some(now_ms.saturating_add(pause));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MEMORY: Resources =
        Resources { memory: Some(1 << 30), cpu_time_ms: None, milli_cpus: None, pids: None };

    #[test]
    fn a_run_without_limits_needs_no_schedule() {
        assert!(ResourceSchedule::of(&Resources::default(), Enforcement::Sampled, 0).is_none());
    }

    #[test]
    fn a_memory_limit_is_measured_only_without_a_control_group() {
        let schedule = ResourceSchedule::of(&MEMORY, Enforcement::ControlGroup, 0).unwrap();
        assert_eq!(schedule.due_ms, None);
        let schedule = ResourceSchedule::of(&MEMORY, Enforcement::Sampled, 100).unwrap();
        assert_eq!(schedule.due_ms, Some(100 + FIRST_MS));
    }

    #[test]
    fn an_idle_tree_is_measured_less_often() {
        let mut schedule = ResourceSchedule::of(&MEMORY, Enforcement::Sampled, 0).unwrap();
        let usage = TreeSample { memory: 1 << 30, cpu_us: 5, pids: 1 };
        schedule.looked(&usage, 100, 1000);
        assert_eq!(schedule.due_ms, Some(1020));
        schedule.looked(&usage, 100, 2000);
        assert_eq!(schedule.due_ms, Some(2200));
    }

    #[test]
    fn a_control_group_is_checked_periodically_for_refused_forks() {
        let limits = Resources { pids: Some(5), ..MEMORY };
        let mut schedule = ResourceSchedule::of(&limits, Enforcement::ControlGroup, 0).unwrap();
        schedule.looked(&TreeSample::default(), 100, 1000);
        assert_eq!(schedule.due_ms, Some(1500));
    }
}
