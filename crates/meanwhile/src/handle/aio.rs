//! The blocking calls as futures, for servers that must not block a thread of their executor.
//!
//! Each call runs on its own thread, so it works with every executor. [`call`] does the same for any other call of the
//! library. If the future of a wait is dropped, its thread ends within a few seconds, and a notification that it has
//! taken is delivered again. A start is carried out even if its future is dropped after the first poll.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use std::{fmt, thread};

use super::{Notices, PendingNotice, Session, TaskDraft, TaskHandle, Until, Waited};
use crate::error::{Error, Result};

/// Starts a task, as [`Session::start`].
///
/// # Errors
/// As [`Session::start`].
pub async fn start(session: &Session, draft: impl Into<TaskDraft>) -> Result<TaskHandle> {
    let (session, draft) = (session.clone(), draft.into());
    call(move || session.start(draft)).await
}

/// Waits for a task, as [`TaskHandle::wait`].
///
/// # Errors
/// As [`TaskHandle::wait`].
pub async fn wait(task: &TaskHandle, until: Until, timeout: Duration) -> Result<Waited> {
    let task = task.clone();
    spawn(move |wanted| task.wait_while(until, timeout, wanted)).await
}

/// Takes the oldest notification, as [`Session::next_notice`].
///
/// # Errors
/// As [`Session::next_notice`].
pub async fn next_notice(session: &Session, timeout: Duration) -> Result<Option<PendingNotice>> {
    let session = session.clone();
    spawn(move |wanted| Ok(Notices::take(&session, 1, timeout, wanted)?.next())).await
}

/// Makes a call on a new thread, which starts immediately.
pub fn call<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Pending<T> {
    spawn(move |_| work())
}

/// A call that runs on its own thread.
#[must_use = "the result of the call is lost"]
pub struct Pending<T>(Arc<Mutex<CallResult<T>>>);

/// Holds the result of a thread. Only the future owns it, so the result is discarded if the future is dropped.
struct CallResult<T> {
    done: Option<thread::Result<Result<T>>>,
    waker: Option<Waker>,
}

fn spawn<T: Send + 'static>(
    work: impl FnOnce(&dyn Fn() -> bool) -> Result<T> + Send + 'static,
) -> Pending<T> {
    let slot = Arc::new(Mutex::new(CallResult { done: None, waker: None }));
    let owner: Weak<_> = Arc::downgrade(&slot);
    let run = move || {
        let wanted = || owner.strong_count() > 0;
        let done = catch_unwind(AssertUnwindSafe(|| work(&wanted)));
        if let Some(slot) = owner.upgrade() {
            let mut slot = lock(&slot);
            slot.done = Some(done);
            slot.waker.take().into_iter().for_each(Waker::wake);
        }
    };
    if let Err(error) = thread::Builder::new().name("meanwhile".to_owned()).spawn(run) {
        lock(&slot).done = Some(Ok(Err(Error::io("cannot start a thread")(error))));
    }
    Pending(slot)
}

fn lock<T>(slot: &Mutex<CallResult<T>>) -> MutexGuard<'_, CallResult<T>> {
    slot.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<T> Future for Pending<T> {
    type Output = Result<T>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<T>> {
        let mut slot = lock(&self.0);
        match slot.done.take() {
            Some(Ok(done)) => Poll::Ready(done),
            Some(Err(panic)) => {
                drop(slot);
                resume_unwind(panic)
            }
            None => {
                slot.waker = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }
}

impl<T> fmt::Debug for Pending<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pending").field("is_done", &lock(&self.0).done.is_some()).finish()
    }
}
