//! Counts the calls that are running.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Most calls at a time; each may block a thread. The runtime has twice as many, so that there is always one left
/// to read, write and confirm with.
const MOST: u32 = 256;

/// The calls that are running. One that finds too many waits its turn.
#[derive(Clone)]
pub(crate) struct Calls(Arc<Semaphore>);

/// A call under way, until its reply has been written.
pub(crate) struct Call {
    _permit: Option<OwnedSemaphorePermit>,
}

impl Default for Calls {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(MOST as usize)))
    }
}

impl Calls {
    /// Begins a call unless it has to wait its turn.
    pub(crate) fn begin_at_once(&self) -> Option<Call> {
        Some(Call { _permit: Some(Arc::clone(&self.0).try_acquire_owned().ok()?) })
    }

    pub(crate) async fn begin(&self) -> Call {
        Call { _permit: Arc::clone(&self.0).acquire_owned().await.ok() }
    }

    /// Returns once none is running.
    pub(crate) async fn all_over(&self) {
        let _ = self.0.acquire_many(MOST).await;
    }
}
