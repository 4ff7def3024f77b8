//! Waiting for conditions. Nothing else in the kit sleeps.

use std::thread;
use std::time::{Duration, Instant};

/// The deadline for events that take milliseconds on an idle machine.
///
/// It is long because tests must not fail on a loaded machine. A test that succeeds does not wait for it.
pub const SOON: Duration = Duration::from_secs(90);

const PAUSE: Duration = Duration::from_millis(4);

/// Calls `probe` until it returns a value, and returns that.
///
/// # Panics
/// When it returns no value within `limit`; the message contains `what`.
pub fn wait_until<T>(limit: Duration, what: &str, mut probe: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(found) = probe() {
            return found;
        }
        assert!(begun.elapsed() < limit, "timed out after {limit:?}: {what}");
        thread::sleep(PAUSE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn returns_the_value_of_the_probe() {
        let mut calls = 0;
        let found = wait_until(SOON, "the third call of the probe", || {
            calls += 1;
            (calls == 3).then_some("enough")
        });
        assert_eq!((found, calls), ("enough", 3));
    }

    #[test]
    #[should_panic(expected = "a condition that never holds")]
    fn panics_with_the_description_after_the_limit() {
        wait_until(Duration::from_millis(10), "a condition that never holds", || None::<()>);
    }
}
