//! Limits connections: in number, and in the time until a request on them was admitted.
//!
//! Anyone on this machine can open connections. Those that have not sent a request with the token get little time, and only
//! few of them are kept: a new one displaces the oldest. So they cannot use up the descriptors of the process, and cannot
//! keep out a user, whose request arrives at once. Many users who connect at the same moment get a second before that.

use std::collections::VecDeque;
use std::fmt::Debug;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use axum::serve::Listener;
use futures::task::AtomicWaker;
use rustix::process::{Resource, getrlimit};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

/// The time until a request on a connection must have been admitted.
const TIME_TO_ADMIT: Duration = Duration::from_secs(10);
/// The maximum number of connections without an admitted request.
const MOST_WAITING: usize = 64;
/// How long a connection is not displaced, unless there are very many.
const PATIENCE: Duration = Duration::from_secs(1);
/// The maximum number of connections without an admitted request, new ones included.
const MOST_NEW: usize = 256;
/// The maximum number of connections, if the process may have enough descriptors.
const MOST: usize = 2048;
/// How many descriptors are left for the rest of the process.
const OTHER_DESCRIPTORS: u64 = 256;

/// Whether a request on a connection was admitted.
#[derive(Clone, Debug)]
pub struct Admission(Arc<State>);

#[derive(Debug)]
struct State {
    is_admitted: AtomicBool,
    is_displaced: AtomicBool,
    reader: AtomicWaker,
    open: Arc<AtomicUsize>,
}

impl Drop for State {
    fn drop(&mut self) {
        self.open.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Admission {
    fn new(open: &Arc<AtomicUsize>) -> Self {
        open.fetch_add(1, Ordering::Relaxed);
        Self(Arc::new(State {
            is_admitted: AtomicBool::new(false),
            is_displaced: AtomicBool::new(false),
            reader: AtomicWaker::new(),
            open: Arc::clone(open),
        }))
    }

    /// Records that a request was admitted. The connection may stay open.
    pub(crate) fn admit(&self) {
        self.0.is_admitted.store(true, Ordering::Relaxed);
    }

    fn is_admitted(&self) -> bool {
        self.0.is_admitted.load(Ordering::Relaxed)
    }
}

/// A listener that limits its connections.
pub struct Limited<L> {
    listener: L,
    most: usize,
    open: Arc<AtomicUsize>,
    /// The connections without an admitted request, and when they were accepted; the oldest is the first.
    waiting: VecDeque<(Weak<State>, Instant)>,
}

impl<L> Limited<L> {
    /// Limits the connections of a listener.
    pub fn new(listener: L) -> Self {
        let descriptors = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
        let most = usize::try_from(descriptors.saturating_sub(OTHER_DESCRIPTORS)).unwrap_or(MOST);
        Self {
            listener,
            most: most.clamp(MOST_WAITING * 2, MOST),
            open: Arc::default(),
            waiting: VecDeque::new(),
        }
    }

    /// Closes the oldest connections without an admitted request, if there are too many.
    fn displace(&mut self) {
        self.waiting.retain(|(waiting, _)| {
            waiting.upgrade().is_some_and(|state| !state.is_admitted.load(Ordering::Relaxed))
        });
        while self.waiting.len() >= MOST_WAITING {
            let is_new = |(_, since): &(_, Instant)| since.elapsed() < PATIENCE;
            if self.waiting.len() < MOST_NEW.min(self.most / 2) && self.waiting.front().is_some_and(is_new) {
                break;
            }
            let Some(oldest) = self.waiting.pop_front().and_then(|(oldest, _)| oldest.upgrade()) else {
                continue;
            };
            oldest.is_displaced.store(true, Ordering::Relaxed);
            oldest.reader.wake();
        }
    }
}

impl<L: Listener<Addr: Debug>> Listener for Limited<L> {
    type Io = LimitedStream<L::Io>;
    type Addr = Admission;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        loop {
            let (stream, _) = self.listener.accept().await;
            if self.open.load(Ordering::Relaxed) >= self.most {
                continue;
            }
            self.displace();
            let admission = Admission::new(&self.open);
            self.waiting.push_back((Arc::downgrade(&admission.0), Instant::now()));
            let deadline = Box::pin(sleep(TIME_TO_ADMIT));
            return (LimitedStream { stream, admission: admission.clone(), deadline }, admission);
        }
    }

    fn local_addr(&self) -> io::Result<Self::Addr> {
        Ok(Admission::new(&self.open))
    }
}

/// A connection of a [`Limited`] listener.
pub struct LimitedStream<S> {
    stream: S,
    admission: Admission,
    deadline: Pin<Box<Sleep>>,
}

impl<S: AsyncRead + Unpin> AsyncRead for LimitedStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if !self.admission.is_admitted() {
            self.admission.0.reader.register(context.waker());
            let is_displaced = self.admission.0.is_displaced.load(Ordering::Relaxed);
            if is_displaced || self.deadline.as_mut().poll(context).is_ready() {
                return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
            }
        }
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for LimitedStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, bytes)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
