//! Kills a command that never returns. One hanging command then does not block the whole run.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::process;

const CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// A thread that kills the watched process when its time has passed.
///
/// It is started before the measurements, because a new thread for each command would be part of the measured time.
#[derive(Clone)]
pub(super) struct Watchdog {
    watched: Arc<Mutex<Option<(u32, Instant)>>>,
}

impl Watchdog {
    pub(super) fn new() -> Self {
        let watched = Arc::new(Mutex::new(None::<(u32, Instant)>));
        let seen = Arc::downgrade(&watched);
        thread::spawn(move || {
            while let Some(watched) = seen.upgrade() {
                let mut slot = watched.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some((pid, _)) = slot.take_if(|(_, end)| Instant::now() > *end) {
                    process::kill(&[pid]);
                }
                drop(slot);
                drop(watched);
                thread::sleep(CHECK_INTERVAL);
            }
        });
        Self { watched }
    }

    /// Watches a process, and kills it after this time.
    pub(super) fn watch(&self, pid: u32, longest: Duration) {
        *self.watched.lock().unwrap_or_else(PoisonError::into_inner) = Some((pid, Instant::now() + longest));
    }

    /// Stops watching the process.
    pub(super) fn relax(&self) {
        *self.watched.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}
