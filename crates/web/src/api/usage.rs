//! CPU, memory and ports of live tasks, with recent values for a chart. Tasks are measured only when a client asks.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::extract::State;
use mw_desk::{Desk, Sample};
use serde::Serialize;
use utoipa::ToSchema;

use super::reply::{Reply, json, sent};
use super::state::Api;
use crate::problem::Problem;

/// The maximum number of tasks that are measured.
const MOST: u32 = 200;
/// The number of values that are kept.
const KEPT: usize = 60;
/// The shortest time between two measurements.
const INTERVAL: Duration = Duration::from_millis(1500);

/// The last measurements.
pub(super) struct UsageSampler {
    desk: Desk,
    measured: Mutex<Measured>,
}

#[derive(Default)]
struct Measured {
    at: Option<Instant>,
    tasks: HashMap<String, TaskUse>,
}

/// CPU, memory and ports of a task's processes.
#[derive(Clone, Debug, Default, Serialize, ToSchema)]
struct TaskUse {
    /// The last values of the CPU usage in percent of one CPU, oldest first.
    cpu: Vec<f64>,
    /// The last values of the memory in bytes, oldest first.
    memory: Vec<u64>,
    /// The ports on which the processes listen.
    ports: Vec<u16>,
}

impl TaskUse {
    fn add(&mut self, sample: Sample) {
        if let (Some(cpu), Some(memory)) = (sample.cpu, sample.memory) {
            self.cpu.push((cpu * 10.0).round() / 10.0);
            self.memory.push(memory);
        }
        self.ports = sample.ports;
        while self.cpu.len() > KEPT {
            self.cpu.remove(0);
            self.memory.remove(0);
        }
    }
}

impl UsageSampler {
    pub(super) fn new(desk: Desk) -> Self {
        Self { desk, measured: Mutex::default() }
    }

    /// Measures again if the last values are old. Concurrent requests share one measurement.
    fn current(&self) -> Result<HashMap<String, TaskUse>, Problem> {
        let mut measured = self.measured.lock().unwrap_or_else(PoisonError::into_inner);
        if measured.at.is_none_or(|at| at.elapsed() >= INTERVAL) {
            let samples = self.desk.use_of_live_tasks(MOST)?;
            measured.tasks.retain(|id, _| samples.iter().any(|(other, _)| other == id));
            for (id, sample) in samples {
                measured.tasks.entry(id).or_default().add(sample);
            }
            measured.at = Some(Instant::now());
        }
        Ok(measured.tasks.clone())
    }
}

/// CPU, memory and ports of all live tasks.
#[derive(Serialize, ToSchema)]
struct Usage {
    /// By task.
    tasks: HashMap<String, TaskUse>,
    /// The shortest time between two values.
    interval_ms: u64,
}

/// Returns CPU, memory and ports of live tasks.
#[utoipa::path(get, path = "/usage", tag = "tasks", responses((status = 200, description = "CPU, memory and ports of each task", body = Usage)))]
pub(super) async fn usage(State(api): State<Arc<Api>>) -> Reply {
    let interval_ms = u64::try_from(INTERVAL.as_millis()).unwrap_or_default();
    api.read(move |api| json(&Usage { tasks: api.usage.current()?, interval_ms })).await.map(sent)
}
