//! Delays the banner of a task's end until the start of the task is shown, because a short task may end before.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Counts the commands that have not printed yet what they started.
#[derive(Clone, Default)]
pub(super) struct Announcing(Arc<AtomicUsize>);

/// A command that has not printed yet what it started. Sent with its line, and dropped when the line is shown.
pub(super) struct Announcement(Arc<AtomicUsize>);

impl Announcing {
    pub(super) fn begin(&self) -> Announcement {
        self.0.fetch_add(1, Ordering::SeqCst);
        Announcement(Arc::clone(&self.0))
    }

    pub(super) fn is_under_way(&self) -> bool {
        self.0.load(Ordering::SeqCst) > 0
    }
}

impl Drop for Announcement {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}
