//! Locks a mutex, also after a thread has panicked while it held the lock.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// A mutex whose content is valid at any time, so that a panic elsewhere does not matter.
pub(crate) trait Lock<T> {
    /// Locks it.
    fn locked(&self) -> MutexGuard<'_, T>;
}

impl<T> Lock<T> for Mutex<T> {
    fn locked(&self) -> MutexGuard<'_, T> {
        self.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
