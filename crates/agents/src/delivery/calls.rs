//! Limits the number of running calls.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The maximum number of concurrent calls. Each may block a thread. The runtime has twice as many threads, so some are
/// always left for reading, writing and acknowledging.
const MAX_CALLS: u32 = 256;

/// The running calls. If there are too many, the next one waits.
#[derive(Clone)]
pub(crate) struct Calls(Arc<Semaphore>);

/// A running call until its reply was written. The semaphore is never closed, so there is always a permit.
pub(crate) type CallPermit = Option<OwnedSemaphorePermit>;

impl Default for Calls {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(MAX_CALLS as usize)))
    }
}

impl Calls {
    /// Begins a call, unless it would have to wait.
    pub(crate) fn begin_at_once(&self) -> Option<CallPermit> {
        Arc::clone(&self.0).try_acquire_owned().ok().map(Some)
    }

    pub(crate) async fn begin(&self) -> CallPermit {
        Arc::clone(&self.0).acquire_owned().await.ok()
    }

    /// Waits until no call is running.
    pub(crate) async fn all_over(&self) {
        let _ = self.0.acquire_many(MAX_CALLS).await;
    }
}
