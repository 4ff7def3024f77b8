//! Limits how often something may be tried: a bucket that refills over time.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A bucket of attempts.
#[derive(Debug)]
pub(crate) struct Attempts {
    most: f64,
    per_second: f64,
    left: Mutex<(f64, Instant)>,
}

impl Attempts {
    /// Allows `most` attempts at once, and `per_second` more every second.
    pub(crate) fn new(most: u32, per_second: f64) -> Self {
        Self { most: most.into(), per_second, left: Mutex::new((most.into(), Instant::now())) }
    }

    /// Takes an attempt. If there is none, returns after which time there is one.
    pub(crate) fn take(&self) -> Result<(), Duration> {
        self.take_at(Instant::now())
    }

    fn take_at(&self, now: Instant) -> Result<(), Duration> {
        let mut state = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        let passed = now.saturating_duration_since(state.1).as_secs_f64();
        let left = (state.0 + passed * self.per_second).min(self.most);
        let is_allowed = left >= 1.0;
        *state = (if is_allowed { left - 1.0 } else { left }, now);
        if is_allowed { Ok(()) } else { Err(Duration::from_secs_f64((1.0 - left) / self.per_second)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attempts_run_out_and_come_back_with_time() {
        let attempts = Attempts::new(2, 0.5);
        let start = Instant::now();
        assert!(attempts.take_at(start).is_ok() && attempts.take_at(start).is_ok());
        let wait = attempts.take_at(start).unwrap_err();
        assert!((1.9..=2.0).contains(&wait.as_secs_f64()), "{wait:?}");
        assert!(attempts.take_at(start + Duration::from_secs(1)).is_err());
        assert!(attempts.take_at(start + Duration::from_secs(3)).is_ok());
    }
}
