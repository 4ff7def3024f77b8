//! Knowing when a reply over HTTP has gone out: the system has taken its last byte from us.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};

use axum::body::{Body, Bytes};
use axum::extract::connect_info::Connected;
use axum::extract::{ConnectInfo, Request};
use axum::middleware::Next;
use axum::response::Response;
use axum::serve::{IncomingStream, Listener};
use http_body::{Frame, SizeHint};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};

use crate::delivery::receipts::Receipt;

/// The receipts of the replies to one request.
#[derive(Clone, Default)]
pub(super) struct HttpReceipts(Arc<Mutex<Vec<Receipt>>>);

impl HttpReceipts {
    pub(super) fn keep(&self, receipt: Receipt) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(receipt);
    }

    fn are_there(&self) -> bool {
        !self.0.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    fn take(&self) -> Vec<Receipt> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The receipts of replies that were handed to a connection whole. They are confirmed when it has been flushed,
/// and given back when it is closed before that.
#[derive(Clone, Default)]
pub(super) struct Due(HttpReceipts);

impl Connected<IncomingStream<'_, Tapped>> for Due {
    fn connect_info(stream: IncomingStream<'_, Tapped>) -> Self {
        stream.io().due.clone()
    }
}

/// Notes when a reply has been handed over whole.
pub(super) async fn follow(ConnectInfo(due): ConnectInfo<Due>, mut request: Request, next: Next) -> Response {
    let receipts = HttpReceipts::default();
    request.extensions_mut().insert(receipts.clone());
    let (parts, body) = next.run(request).await.into_parts();
    Response::from_parts(parts, Body::new(Followed { body, receipts, due }))
}

/// Tells whether a piece of an event stream holds the reply. Clients close the stream as soon as they have it, and
/// its end is never taken then.
fn holds_reply(bytes: &[u8]) -> bool {
    let lines = bytes.split(|byte| *byte == b'\n');
    let mut messages = lines.filter_map(|line| {
        serde_json::from_slice::<serde_json::Value>(line.strip_prefix(b"data:")?.trim_ascii()).ok()
    });
    messages.any(|message| message.get("result").is_some() || message.get("error").is_some())
}

/// A body that says when the reply in it has been taken.
struct Followed {
    body: Body,
    receipts: HttpReceipts,
    due: Due,
}

impl http_body::Body for Followed {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(context);
        let is_told = match &polled {
            Poll::Ready(None) => true,
            Poll::Ready(Some(Ok(frame))) => {
                let holds = |bytes: &Bytes| self.receipts.are_there() && holds_reply(bytes);
                self.body.is_end_stream() || frame.data_ref().is_some_and(holds)
            }
            Poll::Ready(Some(Err(_))) | Poll::Pending => false,
        };
        if is_told {
            self.receipts.take().into_iter().for_each(|receipt| self.due.0.keep(receipt));
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// A listener whose connections say when they have been flushed.
pub(super) struct Tapped(pub(super) TcpListener);

impl Listener for Tapped {
    type Io = Tap;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Tap, SocketAddr) {
        let (stream, address) = Listener::accept(&mut self.0).await;
        (Tap { stream, due: Due::default() }, address)
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.0.local_addr()
    }
}

/// A connection. What serves it writes all it holds before it flushes.
pub(super) struct Tap {
    stream: TcpStream,
    due: Due,
}

impl AsyncRead for Tap {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Tap {
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
        ready!(Pin::new(&mut self.stream).poll_flush(context))?;
        let receipts = self.due.0.take();
        if !receipts.is_empty() {
            tokio::task::spawn_blocking(|| receipts.into_iter().for_each(Receipt::confirm));
        }
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
