//! The clock, passed in so that tests need not wait.

use std::fs;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::SystemTime;

use mw_model::Timestamp;

/// A source of the current time.
pub trait Clock: Send + Sync {
    /// Returns the current time.
    fn now(&self) -> Timestamp;
}

/// The system clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        shifted(SystemTime::now().into())
    }
}

static SHIFT: OnceLock<PathBuf> = OnceLock::new();

/// Lets the time of day jump in a debug build: the file holds the milliseconds to add. Only the first call has an effect.
pub fn shift_clock(file: PathBuf) {
    let _ = SHIFT.set(file);
}

fn shifted(now: Timestamp) -> Timestamp {
    let Some(file) = SHIFT.get().filter(|_| cfg!(debug_assertions)) else { return now };
    let wanted = fs::read_to_string(file).ok().and_then(|text| text.trim().parse::<i64>().ok());
    Timestamp::from_micros(now.as_micros() + wanted.unwrap_or(0) * 1000)
}
