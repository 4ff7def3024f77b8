//! Resource usage of tasks. Measuring takes time, so a list says which tasks to measure, and the screen does it later.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use meanwhile::engine::Runtime;
use meanwhile::{Result, Task};

use crate::desk::Desk;

/// Ports are looked up at every third look only: it takes longer, and they seldom change.
const PORTS_EVERY: u64 = 3;

/// The last sample of a task's process tree.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sample {
    /// CPU use in percent of one CPU; none before the second sample.
    pub cpu: Option<f64>,
    /// Bytes of memory.
    pub memory: Option<u64>,
    /// Ports it listens on.
    pub ports: Vec<u16>,
}

/// Which tasks to look at, and which to remember.
pub struct Round {
    pub(crate) tasks: Vec<Task>,
    pub(crate) alive: Vec<String>,
}

/// Whether a look found something that was never seen before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum FirstLook {
    /// Of at least one task. A screen shows it at once.
    Some,
    /// Of none.
    None,
}

/// What was found at the last look.
struct Known {
    at: Instant,
    cpu_us: u64,
    sample: Sample,
}

/// The known resource usage of tasks.
#[derive(Default)]
pub(crate) struct Samples(Mutex<Found>);

#[derive(Default)]
struct Found {
    looks: u64,
    known: HashMap<String, Known>,
}

impl Samples {
    fn locked(&self) -> MutexGuard<'_, Found> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the known usage of a task.
    pub(crate) fn of(&self, id: &str) -> Sample {
        self.locked().known.get(id).map(|known| known.sample.clone()).unwrap_or_default()
    }

    /// Takes a sample of a task; the second one shows the rate. No lock is held meanwhile.
    fn look_at(&self, runtime: &Runtime, task: &Task, looks: u64) -> FirstLook {
        let Some(usage) = runtime.live().usage(task) else { return FirstLook::None };
        let now = Instant::now();
        let before = self
            .locked()
            .known
            .get(task.id.as_str())
            .map(|known| (known.at, known.cpu_us, known.sample.ports.clone()));
        let cpu = before.as_ref().and_then(|(at, cpu_us, _)| {
            let passed = now.duration_since(*at).as_micros().max(1) as f64;
            // Less than before: a process ended that no process of the tree waited for.
            Some(usage.cpu_us.checked_sub(*cpu_us)? as f64 / passed * 100.0)
        });
        let first = if before.is_none() { FirstLook::Some } else { FirstLook::None };
        let ports = match before {
            Some((_, _, ports)) if looks % PORTS_EVERY != 1 => ports,
            Some(_) | None => runtime.live().ports(task).unwrap_or_default(),
        };
        let sample = Sample { cpu, memory: Some(usage.memory), ports };
        self.locked().known.insert(task.id.to_string(), Known { at: now, cpu_us: usage.cpu_us, sample });
        first
    }
}

impl Desk {
    /// Looks at what tasks use, and forgets all that are not alive in this list. The next list shows what was found.
    ///
    /// Screens that show different lists at once take a desk each: one would forget what the other has seen.
    ///
    /// # Errors
    /// When the home cannot be opened.
    pub fn sample(&self, round: &Round) -> Result<FirstLook> {
        self.with(|runtime| {
            let looks = {
                let mut found = self.samples().locked();
                found.looks += 1;
                found.looks
            };
            let mut first = FirstLook::None;
            for task in &round.tasks {
                if self.samples().look_at(runtime, task, looks) == FirstLook::Some {
                    first = FirstLook::Some;
                }
            }
            self.samples().locked().known.retain(|id, _| round.alive.contains(id));
            Ok(first)
        })
    }
}
