//! Decides when to read the keyboard although the terminal has nothing to read.
//!
//! crossterm reads all available keys at once and returns them one by one, but only until its time limit. On a busy machine
//! the time can pass before it has looked at its own buffer. Then keys are left in the buffer that no descriptor
//! reports, so after keys have arrived it is asked once more, with more time.

use std::time::{Duration, Instant};

/// How long after the last key it is asked again. The screen is drawn before.
const PAUSE: Duration = Duration::from_millis(30);

/// Whether it is to be asked again, and when.
#[derive(Debug, Default)]
pub(super) struct SecondLook(Option<Instant>);

impl SecondLook {
    /// Requests another read: keys have arrived, or another program has read the keyboard.
    pub(super) fn want(&mut self, now: Instant) {
        self.0 = Some(now + PAUSE);
    }

    /// Returns whether it is time, once.
    pub(super) fn take_due(&mut self, now: Instant) -> bool {
        self.0.take_if(|at| *at <= now).is_some()
    }

    /// Shortens a wait so that it is not missed.
    pub(super) fn shorten(&self, now: Instant, longest: Option<Duration>) -> Option<Duration> {
        let left = self.0.map(|at| at.saturating_duration_since(now));
        left.into_iter().chain(longest).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn after_keys_the_keyboard_is_looked_at_once_more() {
        let now = Instant::now();
        let mut look = SecondLook::default();
        assert!(!look.take_due(now));
        assert_eq!(look.shorten(now, None), None, "without keys it sleeps for as long as it likes");
        look.want(now);
        assert!(!look.take_due(now), "first the screen is drawn");
        assert_eq!(look.shorten(now, None), Some(PAUSE));
        assert_eq!(look.shorten(now, Some(Duration::ZERO)), Some(Duration::ZERO));
        assert!(look.take_due(now + PAUSE));
        assert!(!look.take_due(now + PAUSE), "once");
    }
}
