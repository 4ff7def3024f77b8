//! Waits for conditions. The only place of the kit that sleeps.

use std::thread;
use std::time::{Duration, Instant};

/// The deadline for what takes milliseconds on an idle machine.
///
/// It is long because a loaded machine must not fail a test; a test that succeeds never uses it up.
pub const SOON: Duration = Duration::from_secs(90);

const PAUSE: Duration = Duration::from_millis(4);

/// Asks `probe` until it gives a value, and returns that.
///
/// # Panics
/// When `limit` has passed without one, naming `what` was waited for.
pub fn wait_until<T>(limit: Duration, what: &str, mut probe: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(found) = probe() {
            return found;
        }
        assert!(begun.elapsed() < limit, "still not after {limit:?}: {what}");
        thread::sleep(PAUSE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gives_what_the_probe_found() {
        let mut asked = 0;
        let found = wait_until(SOON, "three questions", || {
            asked += 1;
            (asked == 3).then_some("enough")
        });
        assert_eq!((found, asked), ("enough", 3));
    }

    #[test]
    #[should_panic(expected = "a thing that never comes")]
    fn gives_up_with_a_sentence() {
        wait_until(Duration::from_millis(10), "a thing that never comes", || None::<()>);
    }
}
