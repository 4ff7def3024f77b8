//! Delays the notification about a task's end until its start is shown, because a short task may end earlier.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Counts the commands whose output, which names the started task, is not shown yet.
#[derive(Clone, Default)]
pub(super) struct Announcing(Arc<AtomicUsize>);

/// A command whose output is not shown yet. It is sent with the output, and dropped when the output is shown.
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
