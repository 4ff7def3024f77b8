//! A thread that looks at what tasks use, so that a supervisor that does not answer holds up nobody but itself.

use std::collections::HashMap;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use meanwhile::{Runtime, Settings, Task};

use super::event::Event;
use super::program::Post;
use mw_desk::rows::Sample;

/// Ports are looked up at every so manieth look: it takes longer, and they change seldom.
const PORTS_EVERY: u64 = 3;

/// What was found at the last look.
struct Known {
    at: Instant,
    cpu_us: u64,
    sample: Sample,
}

type Found = Arc<Mutex<HashMap<String, Known>>>;

/// Whom to look at, and whom to remember.
struct Round {
    tasks: Vec<Task>,
    alive: Vec<String>,
}

pub(super) struct Sampler {
    rounds: Sender<Round>,
    found: Found,
}

impl Sampler {
    pub(super) fn start(settings: Settings, post: &Post) -> Self {
        let (rounds, asked) = mpsc::channel();
        let found = Found::default();
        let ours = Arc::clone(&found);
        post.spawn(move |post| run(&settings, &asked, &ours, post));
        Self { rounds, found }
    }

    /// Has these looked at soon, and all forgotten that are not alive.
    pub(super) fn look_at(&self, tasks: Vec<Task>, alive: Vec<String>) {
        // Without the thread the program is about to leave.
        let _ = self.rounds.send(Round { tasks, alive });
    }

    /// Returns what is known of a task.
    pub(super) fn sample_of(&self, id: &str) -> Sample {
        let found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        found.get(id).map(|known| known.sample.clone()).unwrap_or_default()
    }
}

fn run(settings: &Settings, rounds: &Receiver<Round>, found: &Found, post: &Post) {
    let mut looks = 0;
    while let Ok(first) = rounds.recv() {
        // Whoever was late looks at what is there now.
        let round = rounds.try_iter().last().unwrap_or(first);
        // What is wrong with the home is told by those who list.
        let Ok(runtime) = Runtime::open(settings.clone()) else { continue };
        looks += 1;
        let mut is_any_new = false;
        for task in &round.tasks {
            is_any_new |= look_at(&runtime, task, looks, found);
        }
        let mut known = found.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|id, _| round.alive.contains(id));
        drop(known);
        // What is seen for the first time is shown before the next second is over.
        if is_any_new {
            post.tell(Event::News);
        }
    }
}

/// Looks at what a task uses; the second look tells how fast. Tells whether it is the first.
fn look_at(runtime: &Runtime, task: &Task, looks: u64, found: &Found) -> bool {
    let locked = || found.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(usage) = runtime.usage(task) else { return false };
    let now = Instant::now();
    let before =
        locked().get(task.id.as_str()).map(|known| (known.at, known.cpu_us, known.sample.ports.clone()));
    let cpu = before.as_ref().and_then(|(at, cpu_us, _)| {
        let passed = now.duration_since(*at).as_micros().max(1) as f64;
        // Less than before: processes have ended whom nobody of the tree waited for.
        Some(usage.cpu_us.checked_sub(*cpu_us)? as f64 / passed * 100.0)
    });
    let is_first = before.is_none();
    let ports = match before {
        Some((_, _, ports)) if looks % PORTS_EVERY != 1 => ports,
        Some(_) | None => runtime.ports(task).unwrap_or_default(),
    };
    let sample = Sample { cpu, memory: Some(usage.memory), ports };
    locked().insert(task.id.to_string(), Known { at: now, cpu_us: usage.cpu_us, sample });
    is_first
}
