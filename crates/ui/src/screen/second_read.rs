//! Decides when to read the keyboard although the terminal has nothing to read.
//!
//! crossterm reads all available keys at once and returns them one by one, but only until its time limit. On a busy machine
//! the time can pass before it has looked at its own buffer. Then keys are left in the buffer that no descriptor
//! reports, so after keys have arrived it is asked once more, with more time.

use std::time::{Duration, Instant};

/// The time between the last key and the second read. The screen is drawn in between.
const SECOND_READ_DELAY: Duration = Duration::from_millis(30);

/// The time of the next additional read of the keyboard, if one is due.
#[derive(Debug, Default)]
pub(super) struct SecondRead(Option<Instant>);

impl SecondRead {
    /// Requests an additional read, because keys have arrived or another program has read the keyboard.
    pub(super) fn want(&mut self, now: Instant) {
        self.0 = Some(now + SECOND_READ_DELAY);
    }

    /// Returns whether the read is due, and clears the request.
    pub(super) fn take_due(&mut self, now: Instant) -> bool {
        self.0.take_if(|at| *at <= now).is_some()
    }

    /// Shortens a timeout to end when the read is due.
    pub(super) fn shorten(&self, now: Instant, longest: Option<Duration>) -> Option<Duration> {
        let left = self.0.map(|at| at.saturating_duration_since(now));
        left.into_iter().chain(longest).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_keyboard_is_read_once_more_after_keys() {
        let now = Instant::now();
        let mut read = SecondRead::default();
        assert!(!read.take_due(now));
        assert_eq!(read.shorten(now, None), None, "without keys it waits without a timeout");
        read.want(now);
        assert!(!read.take_due(now), "first the screen is drawn");
        assert_eq!(read.shorten(now, None), Some(SECOND_READ_DELAY));
        assert_eq!(read.shorten(now, Some(Duration::ZERO)), Some(Duration::ZERO));
        assert!(read.take_due(now + SECOND_READ_DELAY));
        assert!(!read.take_due(now + SECOND_READ_DELAY), "only once");
    }
}
