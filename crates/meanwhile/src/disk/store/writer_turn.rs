//! The turn of the thread of this process that writes to a database.
//!
//! SQLite makes writers retry, and a thread among hundreds that retry may fail for a long time. Here the threads of one
//! process wait for each other, and only one of them retries.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// How long a thread waits for its turn. A thread that has it may itself wait for a stopped process; the others then
/// compete with it, instead of waiting one after the other.
const TIMEOUT: Duration = Duration::from_secs(10);

static WRITERS: Writers = Writers::new();

struct Writers {
    is_writing: Mutex<bool>,
    ended: Condvar,
}

/// The turn of a thread. It ends when dropped.
pub(super) struct WriterTurn(&'static Writers);

impl WriterTurn {
    /// Waits for the turn; `None` if that takes too long.
    pub(super) fn take() -> Option<Self> {
        WRITERS.take(TIMEOUT)
    }
}

impl Writers {
    const fn new() -> Self {
        Self { is_writing: Mutex::new(false), ended: Condvar::new() }
    }

    fn take(&'static self, timeout: Duration) -> Option<WriterTurn> {
        let guard = self.is_writing.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.ended.wait_timeout_while(guard, timeout, |is_writing| *is_writing);
        let (mut is_writing, result) = waited.unwrap_or_else(PoisonError::into_inner);
        if result.timed_out() {
            return None;
        }
        *is_writing = true;
        Some(WriterTurn(self))
    }
}

impl Drop for WriterTurn {
    fn drop(&mut self) {
        *self.0.is_writing.lock().unwrap_or_else(PoisonError::into_inner) = false;
        self.0.ended.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    const LONG: Duration = Duration::from_secs(90);

    #[test]
    fn one_thread_at_a_time_has_the_turn_and_an_endless_one_is_not_waited_for() {
        static WRITERS: Writers = Writers::new();
        let first = WRITERS.take(LONG).expect("nobody writes");
        assert!(WRITERS.take(Duration::from_millis(1)).is_none(), "another thread has the turn");
        let second = thread::spawn(|| WRITERS.take(LONG).is_some());
        drop(first);
        assert!(second.join().unwrap());
        assert!(WRITERS.take(LONG).is_some());
    }
}
