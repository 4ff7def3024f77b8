//! Calls that were received but have not yet reported which tasks they wait for.
//!
//! No reply with notifications is written meanwhile, because an end that a wait will report must not also be in an
//! earlier reply.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rmcp::model::RequestId;
use tokio::sync::Notify;

use crate::lock::Lock;

/// The maximum time that a reply waits for a pending call. A call usually reports within milliseconds. If a call is
/// slower, an end that it waits for may also be in an earlier reply.
const MAX_HOLD: Duration = Duration::from_secs(1);

/// The calls that were received and may still wait for tasks.
#[derive(Clone, Default)]
pub(crate) struct PendingCalls(Arc<Inner>);

#[derive(Default)]
struct Inner {
    state: Mutex<State>,
    fewer: Notify,
}

#[derive(Default)]
struct State {
    last: u64,
    /// The time at which each call was received, by number.
    open: BTreeMap<u64, Instant>,
    /// Calls that were read from a stream but are not running yet.
    unclaimed: HashMap<RequestId, PendingCall>,
}

/// A call that was received. It is dropped as soon as it is known which tasks it waits for.
pub(crate) struct PendingCall {
    number: u64,
    calls: PendingCalls,
}

impl Drop for PendingCall {
    fn drop(&mut self) {
        self.calls.change(|state| state.open.remove(&self.number));
        self.calls.0.fewer.notify_waiters();
    }
}

impl PendingCalls {
    fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        change(&mut self.0.state.locked())
    }

    pub(crate) fn add(&self) -> PendingCall {
        let number = self.change(|state| {
            state.last += 1;
            state.open.insert(state.last, Instant::now());
            state.last
        });
        PendingCall { number, calls: self.clone() }
    }

    /// Adds a call and keeps it under the id of its request until it is taken.
    pub(crate) fn add_as(&self, id: &RequestId) {
        let call = self.add();
        // A call with the same id is dropped without the lock, which its drop takes.
        drop(self.change(|state| state.unclaimed.insert(id.clone(), call)));
    }

    /// Takes the call with this id, to run it or to drop it.
    pub(crate) fn take(&self, id: &RequestId) -> Option<PendingCall> {
        self.change(|state| state.unclaimed.remove(id))
    }

    /// Waits until all calls that were received before have reported which tasks they wait for.
    pub(crate) async fn all_known(&self) {
        let newest = self.change(|state| state.last);
        loop {
            let fewer = self.0.fewer.notified();
            tokio::pin!(fewer);
            fewer.as_mut().enable();
            let waits_until = |since: &Instant| *since + MAX_HOLD;
            let last =
                self.change(|state| state.open.range(..=newest).map(|(_, since)| waits_until(since)).max());
            let Some(left) = last.and_then(|last| last.checked_duration_since(Instant::now())) else {
                return;
            };
            let _ = tokio::time::timeout(left, fewer).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_reply_waits_for_earlier_calls_up_to_a_time_limit() {
        let pending_calls = PendingCalls::default();
        pending_calls.all_known().await;
        let first = pending_calls.add();
        pending_calls.add_as(&RequestId::Number(7));
        let second = pending_calls.take(&RequestId::Number(7));
        assert!(pending_calls.take(&RequestId::Number(7)).is_none());
        let known = pending_calls.all_known();
        tokio::pin!(known);
        assert!(tokio::time::timeout(Duration::from_millis(20), known.as_mut()).await.is_err());
        // A call that is received later is not waited for.
        let later = pending_calls.add();
        drop((first, second));
        known.await;
        let begun = Instant::now();
        pending_calls.all_known().await;
        assert!(begun.elapsed() <= MAX_HOLD + MAX_HOLD, "the wait for a call that never reports is too long");
        drop(later);
    }
}
