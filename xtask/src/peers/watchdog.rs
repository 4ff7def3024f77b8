//! Ends a command that never returns, so that one hang does not cost the whole run.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::process;

const LOOK: Duration = Duration::from_secs(1);

/// A thread that kills the watched process when its time is up.
///
/// It is there before anything is measured: a thread made for each command would be part of what is measured.
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
                thread::sleep(LOOK);
            }
        });
        Self { watched }
    }

    /// Gives a process this much time.
    pub(super) fn watch(&self, pid: u32, longest: Duration) {
        *self.watched.lock().unwrap_or_else(PoisonError::into_inner) = Some((pid, Instant::now() + longest));
    }

    /// Forgets the process.
    pub(super) fn relax(&self) {
        *self.watched.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}
