//! Calls that were received but have not yet said which tasks they wait for. No reply with notifications is written
//! meanwhile, because an end that a wait will report must not be in an earlier reply, too.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rmcp::model::RequestId;
use tokio::sync::Notify;

/// How long a reply waits at the most for one of them. A call knows within milliseconds; one that is slower may find an end
/// told already.
const LONGEST: Duration = Duration::from_secs(1);

/// The calls that have come in.
#[derive(Clone, Default)]
pub(crate) struct Arrivals(Arc<Inner>);

#[derive(Default)]
struct Inner {
    state: Mutex<State>,
    fewer: Notify,
}

#[derive(Default)]
struct State {
    last: u64,
    /// Since when each is there.
    open: BTreeMap<u64, Instant>,
    /// Calls that were read from a stream but are not running yet.
    unclaimed: HashMap<RequestId, Arrival>,
}

/// A call that has come in. Dropped once it is known for what it waits, if it does.
pub(crate) struct Arrival {
    number: u64,
    arrivals: Arrivals,
}

impl Drop for Arrival {
    fn drop(&mut self) {
        self.arrivals.change(|state| state.open.remove(&self.number));
        self.arrivals.0.fewer.notify_waiters();
    }
}

impl Arrivals {
    fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        change(&mut self.0.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Notes that a call has come in.
    pub(crate) fn come(&self) -> Arrival {
        let number = self.change(|state| {
            state.last += 1;
            state.open.insert(state.last, Instant::now());
            state.last
        });
        Arrival { number, arrivals: self.clone() }
    }

    /// The same for a call that goes by this number until it is run.
    pub(crate) fn come_as(&self, id: &RequestId) {
        let arrival = self.come();
        // What had the number before is dropped outside: it asks for the lock itself.
        drop(self.change(|state| state.unclaimed.insert(id.clone(), arrival)));
    }

    /// Takes the call with this number, to run it or to drop it.
    pub(crate) fn take(&self, id: &RequestId) -> Option<Arrival> {
        self.change(|state| state.unclaimed.remove(id))
    }

    /// Returns once all that have come in so far are known.
    pub(crate) async fn all_known(&self) {
        let newest = self.change(|state| state.last);
        loop {
            let fewer = self.0.fewer.notified();
            tokio::pin!(fewer);
            fewer.as_mut().enable();
            let waits_until = |since: &Instant| *since + LONGEST;
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
    async fn a_reply_waits_for_those_that_came_before_it_and_not_for_ever() {
        let arrivals = Arrivals::default();
        arrivals.all_known().await;
        let first = arrivals.come();
        arrivals.come_as(&RequestId::Number(7));
        let second = arrivals.take(&RequestId::Number(7));
        assert!(arrivals.take(&RequestId::Number(7)).is_none());
        let known = arrivals.all_known();
        tokio::pin!(known);
        assert!(tokio::time::timeout(Duration::from_millis(20), known.as_mut()).await.is_err());
        // One that comes later is not waited for.
        let later = arrivals.come();
        drop((first, second));
        known.await;
        let begun = Instant::now();
        arrivals.all_known().await;
        assert!(begun.elapsed() <= LONGEST + LONGEST, "it never became known");
        drop(later);
    }
}
