//! Banners wait for the line that says what was started: a quick task may be over before that line is there.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How many commands are about to say what they started.
#[derive(Clone, Default)]
pub(super) struct Announcing(Arc<AtomicUsize>);

/// One that is about to. Dropped once it has, or when it waits for a person first.
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
