//! How many calls are under way.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Most calls at a time; each may block a thread. The runtime has twice as many, so that there is always one left
/// to read, write and confirm with.
const MOST: u32 = 256;

/// The calls that are under way. One that finds too many waits its turn.
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
    pub(crate) async fn begin(&self) -> Call {
        Call { _permit: Arc::clone(&self.0).acquire_owned().await.ok() }
    }

    /// Returns once none is under way.
    pub(crate) async fn all_over(&self) {
        let _ = self.0.acquire_many(MOST).await;
    }
}
