//! Reads whose answer several requests share.
//!
//! When something happens, all open pages ask for the same list at the same moment. Requests with the same key wait for each
//! other: one read is made at a time, and all requests that come meanwhile share the next. A request never gets the answer of
//! a read that had begun before it, so every answer has all changes that were made before the request.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use axum::body::Bytes;
use futures::future::{BoxFuture, FutureExt, Shared};

use crate::problem::Problem;

/// The reads that requests wait for.
pub(super) struct SharedReads<K>(Mutex<HashMap<K, Weak<SharedRead>>>);

impl<K> Default for SharedReads<K> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

/// A read. It goes on as long as a request waits for it.
struct SharedRead {
    has_begun: Arc<AtomicBool>,
    answer: Shared<BoxFuture<'static, Result<Bytes, Problem>>>,
}

impl SharedRead {
    /// Prepares a read that begins after another has ended.
    fn after(
        before: Option<Arc<Self>>,
        read: impl Future<Output = Result<String, Problem>> + Send + 'static,
    ) -> Self {
        let has_begun = Arc::new(AtomicBool::new(false));
        let begins = Arc::clone(&has_begun);
        let answer = async move {
            if let Some(before) = before {
                let _ = before.answer.clone().await;
            }
            begins.store(true, Ordering::Release);
            read.await.map(Bytes::from)
        };
        Self { has_begun, answer: answer.boxed().shared() }
    }
}

impl<K: Eq + Hash> SharedReads<K> {
    /// Returns the answer of the next read with this key. `read` is made unless one like it is waiting.
    pub(super) async fn read(
        &self,
        key: K,
        read: impl Future<Output = Result<String, Problem>> + Send + 'static,
    ) -> Result<Bytes, Problem> {
        let shared = self.next(key, read);
        shared.answer.clone().await
    }

    fn next(
        &self,
        key: K,
        read: impl Future<Output = Result<String, Problem>> + Send + 'static,
    ) -> Arc<SharedRead> {
        let mut reads = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        reads.retain(|_, read| read.strong_count() > 0);
        match reads.get(&key).and_then(Weak::upgrade) {
            Some(waiting) if !waiting.has_begun.load(Ordering::Acquire) => waiting,
            before => {
                let shared = Arc::new(SharedRead::after(before, read));
                reads.insert(key, Arc::downgrade(&shared));
                shared
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use tokio::sync::oneshot;

    use super::*;

    /// Returns a read that ends when it is told to. Its answer is the number of reads that have begun.
    fn slow(
        begun: &Arc<AtomicUsize>,
        end: oneshot::Receiver<()>,
    ) -> impl Future<Output = Result<String, Problem>> + use<> {
        let begun = Arc::clone(begun);
        async move {
            let number = begun.fetch_add(1, Ordering::SeqCst) + 1;
            let _ = end.await;
            Ok(number.to_string())
        }
    }

    #[test]
    fn requests_share_only_a_read_that_begins_after_them() {
        let (reads, begun) = (SharedReads::default(), Arc::new(AtomicUsize::new(0)));
        let (end, ended): (Vec<_>, Vec<_>) = (0..6).map(|_| oneshot::channel()).unzip();
        let (mut end, mut ended) = (end.into_iter(), ended.into_iter());
        let mut ask = |key| Box::pin(reads.read(key, slow(&begun, ended.next().unwrap())));
        let answer = |asked: &mut (dyn Future<Output = Result<Bytes, Problem>> + Unpin)| {
            asked.now_or_never().map(|answer| String::from_utf8(answer.unwrap().to_vec()).unwrap())
        };
        let (mut first, mut second, mut third, mut other) = (ask("a"), ask("a"), ask("a"), ask("b"));
        for waiting in [&mut first, &mut second, &mut third, &mut other] {
            assert_eq!(answer(waiting), None);
        }
        assert_eq!(begun.load(Ordering::SeqCst), 2, "the first one, and the one with another key");
        end.next().unwrap().send(()).unwrap();
        assert_eq!(answer(&mut first).as_deref(), Some("1"));
        assert_eq!(answer(&mut third), None);
        assert_eq!(begun.load(Ordering::SeqCst), 3);
        let mut later = ask("a");
        assert_eq!(answer(&mut later), None);
        end.next().unwrap().send(()).unwrap();
        assert_eq!(answer(&mut third).as_deref(), Some("3"));
        assert_eq!(answer(&mut second).as_deref(), Some("3"), "it was asked before this read began");
        assert_eq!(answer(&mut later), None, "it was asked after that");
        assert_eq!(begun.load(Ordering::SeqCst), 4);
        drop((first, second, third, later, other));
        assert_eq!(answer(&mut ask("c")), None);
        assert_eq!(reads.0.lock().unwrap().len(), 1, "reads without a request are forgotten");
    }
}
