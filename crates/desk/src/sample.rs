//! Measures the resource usage of tasks. This takes time, so a list only names the tasks to measure, and the screen
//! measures them later.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use meanwhile::engine::Runtime;
use meanwhile::model::Status;
use meanwhile::{Result, Task, TaskFilter};

use crate::desk::Desk;

/// Ports are looked up in every third round only, because the lookup is slow and ports seldom change.
const PORTS_EVERY: u64 = 3;

/// The last sample of a task's process tree.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sample {
    /// The CPU usage in percent of one CPU. It is known from the second sample on.
    pub cpu: Option<f64>,
    /// The memory usage in bytes.
    pub memory: Option<u64>,
    /// The ports on which the processes listen.
    pub ports: Vec<u16>,
}

/// The tasks to measure, and the tasks whose samples are kept.
pub struct Round {
    pub(crate) tasks: Vec<Task>,
    pub(crate) alive: Vec<String>,
}

/// The result of the last measurement of a task.
struct Measurement {
    at: Instant,
    cpu_us: u64,
    sample: Sample,
}

/// The known resource usage of tasks.
#[derive(Default)]
pub(crate) struct Samples(Mutex<Measurements>);

#[derive(Default)]
struct Measurements {
    rounds: u64,
    by_task: HashMap<String, Measurement>,
}

impl Samples {
    fn locked(&self) -> MutexGuard<'_, Measurements> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the last sample of a task.
    pub(crate) fn of(&self, id: &str) -> Sample {
        self.locked().by_task.get(id).map(|last| last.sample.clone()).unwrap_or_default()
    }

    /// Measures a task. The second sample shows the CPU usage. Returns whether this is the first sample. No lock is
    /// held during the measurement.
    fn measure(&self, runtime: &Runtime, task: &Task, round: u64) -> bool {
        let Some(usage) = runtime.live().usage(task) else { return false };
        let now = Instant::now();
        let before = self
            .locked()
            .by_task
            .get(task.id.as_str())
            .map(|last| (last.at, last.cpu_us, last.sample.ports.clone()));
        let cpu = before.as_ref().and_then(|(at, cpu_us, _)| {
            let passed = now.duration_since(*at).as_micros().max(1) as f64;
            // The total may decrease, if a process ended for which no process of the tree waited.
            Some(usage.cpu_us.checked_sub(*cpu_us)? as f64 / passed * 100.0)
        });
        let is_first = before.is_none();
        let ports = match before {
            Some((_, _, ports)) if round % PORTS_EVERY != 1 => ports,
            Some(_) | None => runtime.live().ports(task).unwrap_or_default(),
        };
        let sample = Sample { cpu, memory: Some(usage.memory), ports };
        self.locked()
            .by_task
            .insert(task.id.to_string(), Measurement { at: now, cpu_us: usage.cpu_us, sample });
        is_first
    }
}

impl Desk {
    /// Measures the usage of live tasks, at most this many, and returns it with their ids.
    ///
    /// # Errors
    /// Fails if the home directory cannot be read.
    pub fn use_of_live_tasks(&self, most: u32) -> Result<Vec<(String, Sample)>> {
        let running = vec![Status::Running, Status::Resumed, Status::Cancelling];
        let live = TaskFilter { statuses: running, limit: most, ..TaskFilter::new(self.scope()) };
        let tasks = self.with(|runtime| runtime.tasks().list(&live))?.tasks;
        let alive: Vec<_> = tasks.iter().map(|task| task.id.to_string()).collect();
        self.sample(&Round { tasks, alive: alive.clone() })?;
        Ok(alive.into_iter().map(|id| (id.clone(), self.samples().of(&id))).collect())
    }

    /// Measures the usage of tasks, and drops the samples of tasks that are not live in this list. The next list
    /// contains the results. Returns whether a task was measured for the first time. A screen should then measure it
    /// again soon.
    ///
    /// Screens with different lists need separate desks, because each round drops the samples of the other list.
    ///
    /// # Errors
    /// Fails if the home directory cannot be opened.
    pub fn sample(&self, round: &Round) -> Result<bool> {
        self.with(|runtime| {
            let number = {
                let mut measurements = self.samples().locked();
                measurements.rounds += 1;
                measurements.rounds
            };
            let mut is_first = false;
            for task in &round.tasks {
                is_first |= self.samples().measure(runtime, task, number);
            }
            self.samples().locked().by_task.retain(|id, _| round.alive.contains(id));
            Ok(is_first)
        })
    }
}
