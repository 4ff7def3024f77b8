//! Blocking calls as futures.

use std::fs;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use meanwhile::{Error, Meanwhile, Session, Shell, Until, aio};

use crate::handle::{LONG, dir, open};

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// A minimal executor.
fn block_on<T>(future: impl Future<Output = T>) -> T {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(done) => return done,
            Poll::Pending => thread::park(),
        }
    }
}

#[test]
fn starts_waits_and_notifications_work_as_send_futures() {
    fn is_send(_: &impl Send) {}
    let dir = dir();
    let session = open(dir.path()).host("agent").unwrap();
    let serve = async {
        let task = aio::start(&session, Shell::new("exit 4")).await?;
        let waited = aio::wait(&task, Until::Exit, LONG).await?;
        let notice = aio::next_notice(&session, LONG).await?.unwrap();
        assert_eq!((waited.task().exit_code, &notice.notice().task), (Some(4), task.id()));
        aio::call(move || notice.acknowledge()).await?;
        aio::start(&session, Shell::new("")).await
    };
    is_send(&serve);
    let refused = block_on(serve).unwrap_err();
    assert!(matches!(refused, Error::Invalid(_)), "{refused}");
    assert_eq!(session.notices().unwrap().len(), 0);
}

#[test]
fn a_poll_does_not_block_until_the_call_returns() {
    let dir = dir();
    let session = open(dir.path()).host("agent").unwrap();
    let task = session.start(Shell::new("read -r line; exit 4").with_input()).unwrap();
    let mut waits = pin!(aio::wait(&task, Until::Exit, LONG));
    assert!(waits.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    // The task ends only now, so a poll that blocks returns the expired wait.
    task.input("go\n").unwrap();
    assert_eq!(block_on(waits).unwrap().task().exit_code, Some(4));
}

/// Polls a future once and drops it.
fn abandon<T>(future: impl Future<Output = T>) {
    let polled = pin!(future).poll(&mut Context::from_waker(Waker::noop()));
    assert!(polled.is_pending());
}

#[test]
fn a_dropped_future_loses_no_notification_and_ends_its_thread() {
    let dir = dir();
    let mut settings = open(dir.path()).settings().clone();
    settings.wait_fallback = Duration::from_millis(50);
    let session = Meanwhile::open(settings).unwrap().host("agent").unwrap();
    let take = |session: &Session| session.next_notice(LONG).unwrap().unwrap();
    for _ in 0..3 {
        abandon(aio::next_notice(&session, LONG));
    }
    session.start("true").unwrap();
    take(&session).acknowledge().unwrap();
    assert_eq!(session.notices().unwrap().len(), 0);
    let begun = Instant::now();
    while waiting_threads() > 0 {
        assert!(begun.elapsed() < LONG, "the thread of a dropped future is still waiting");
        thread::yield_now();
    }
}

/// Counts the threads of futures. nextest runs each test in a separate process, so all are of this test.
fn waiting_threads() -> usize {
    let threads = fs::read_dir("/proc/self/task").unwrap().flatten();
    let name = |thread: fs::DirEntry| fs::read_to_string(thread.path().join("comm")).unwrap_or_default();
    threads.map(name).filter(|name| name == "meanwhile\n").count()
}

#[test]
fn a_panic_in_a_call_is_raised_again_where_it_is_awaited() {
    let call = aio::call(|| -> meanwhile::Result<()> { panic!("on purpose") });
    let panic = thread::spawn(|| block_on(call)).join().unwrap_err();
    assert_eq!(panic.downcast_ref(), Some(&"on purpose"));
}
