//! Detects when a reply over HTTP was written: when the kernel has accepted its last byte.

use std::fmt;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, ready};

use axum::body::{Body, Bytes};
use axum::extract::connect_info::Connected;
use axum::extract::{ConnectInfo, Request, State};
use axum::http::Method;
use axum::middleware::Next;
use axum::response::Response;
use axum::serve::{IncomingStream, Listener};
use http_body::{Frame, SizeHint};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::delivery::draft::without;
use crate::delivery::pending_calls::{PendingCall, PendingCalls};
use crate::delivery::receipts::Receipt;
use crate::lock::Lock;

/// A request that was received, until it is known what it waits for.
#[derive(Clone)]
pub(super) struct HttpPendingCall(Arc<Mutex<Option<PendingCall>>>);

impl HttpPendingCall {
    pub(super) fn take(&self) -> Option<PendingCall> {
        self.0.locked().take()
    }
}

/// The receipts of the replies to one request.
#[derive(Clone, Default)]
pub(super) struct HttpReceipts(Arc<Mutex<Vec<Receipt>>>);

impl HttpReceipts {
    pub(super) fn keep(&self, receipt: Receipt) {
        self.0.locked().push(receipt);
    }

    fn take(&self) -> Vec<Receipt> {
        std::mem::take(&mut *self.0.locked())
    }
}

/// The receipts of replies that were passed to a connection completely. They are confirmed when the connection was
/// flushed, and dropped if it is closed before.
#[derive(Clone, Default)]
pub struct ConnectionReceipts(HttpReceipts);

impl<L: Listener<Addr: fmt::Debug>> Connected<IncomingStream<'_, FlushListener<L>>> for ConnectionReceipts {
    fn connect_info(stream: IncomingStream<'_, FlushListener<L>>) -> Self {
        stream.io().due.clone()
    }
}

/// Tracks a request until its reply was passed to the connection.
pub(super) async fn follow(
    State(pending_calls): State<PendingCalls>,
    ConnectInfo(due): ConnectInfo<ConnectionReceipts>,
    mut request: Request,
    next: Next,
) -> Response {
    let receipts = HttpReceipts::default();
    if request.method() == Method::POST {
        let pending = Arc::new(Mutex::new(Some(pending_calls.add())));
        request.extensions_mut().insert(HttpPendingCall(pending));
    }
    request.extensions_mut().insert(receipts.clone());
    let (parts, body) = next.run(request).await.into_parts();
    Response::from_parts(
        parts,
        Body::new(TrackedBody { body, receipts, due, pending_calls, held_back: None }),
    )
}

/// Returns whether a piece of an event stream contains the reply. Clients close the stream as soon as they have it, so
/// the end of the stream may never be read.
fn holds_reply(bytes: &[u8]) -> bool {
    let lines = bytes.split(|byte| *byte == b'\n');
    let mut messages = lines.filter_map(|line| {
        serde_json::from_slice::<serde_json::Value>(line.strip_prefix(b"data:")?.trim_ascii()).ok()
    });
    messages.any(|message| message.get("result").is_some() || message.get("error").is_some())
}

/// Writes a piece of an event stream without these notifications.
fn rewritten(bytes: &Bytes, blocks: &[String]) -> Bytes {
    let lines = bytes.split_inclusive(|byte| *byte == b'\n').map(|line| {
        let message = line.strip_prefix(b"data:").and_then(|message| without(message, blocks));
        message.map_or_else(|| line.to_vec(), |message| [b"data: ", &message[..], b"\n"].concat())
    });
    lines.collect::<Vec<_>>().concat().into()
}

/// Resolves when it is known what the received calls wait for.
type Ready = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A body that notices when its reply was read from it.
struct TrackedBody {
    body: Body,
    receipts: HttpReceipts,
    due: ConnectionReceipts,
    pending_calls: PendingCalls,
    /// A piece with the reply, held back because notifications may still be taken out of it.
    held_back: Option<(Bytes, Ready)>,
}

impl TrackedBody {
    /// Holds back a piece that has a reply with notifications until it is known what the received calls wait for. Nothing
    /// can be taken out of a body that is not a stream, because its length was already sent.
    fn hold_back(
        &mut self,
        polled: &Poll<Option<Result<Frame<Bytes>, axum::Error>>>,
        is_stream: bool,
    ) -> bool {
        let Poll::Ready(Some(Ok(frame))) = polled else { return false };
        let Some(bytes) = frame.data_ref().filter(|bytes| {
            is_stream && self.receipts.0.locked().iter().any(Receipt::has_notices) && holds_reply(bytes)
        }) else {
            return false;
        };
        let pending_calls = self.pending_calls.clone();
        self.held_back = Some((bytes.clone(), Box::pin(async move { pending_calls.all_known().await })));
        true
    }

    /// Called when the reply is sent. Its receipts are confirmed by the next flush.
    fn let_go(&self) -> Vec<String> {
        let receipts = self.receipts.take();
        let taken_out = receipts.iter().flat_map(Receipt::close).collect();
        self.due.0.0.locked().extend(receipts);
        taken_out
    }
}

impl http_body::Body for TrackedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if self.held_back.is_none() {
            let is_stream = self.body.size_hint().exact().is_none();
            let polled = Pin::new(&mut self.body).poll_frame(context);
            if !self.hold_back(&polled, is_stream) {
                let is_sent = match &polled {
                    Poll::Ready(None) => true,
                    Poll::Ready(Some(Ok(frame))) => {
                        let holds =
                            |bytes: &Bytes| !self.receipts.0.locked().is_empty() && holds_reply(bytes);
                        self.body.is_end_stream() || frame.data_ref().is_some_and(holds)
                    }
                    Poll::Ready(Some(Err(_))) | Poll::Pending => false,
                };
                if is_sent {
                    self.let_go();
                }
                return polled;
            }
        }
        if let Some((_, known)) = &mut self.held_back {
            ready!(known.as_mut().poll(context));
        }
        let bytes = self.held_back.take().map(|(bytes, _)| bytes).unwrap_or_default();
        let taken_out = self.let_go();
        let bytes = if taken_out.is_empty() { bytes } else { rewritten(&bytes, &taken_out) };
        Poll::Ready(Some(Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        self.held_back.is_none() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// A listener whose connections confirm the receipts of a reply when they have been flushed.
pub struct FlushListener<L>(
    /// The listener below it.
    pub L,
);

impl<L: Listener> Listener for FlushListener<L> {
    type Io = FlushStream<L::Io>;
    type Addr = L::Addr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        let (stream, address) = self.0.accept().await;
        (FlushStream { stream, due: ConnectionReceipts::default() }, address)
    }

    fn local_addr(&self) -> io::Result<Self::Addr> {
        self.0.local_addr()
    }
}

/// A connection of a [`FlushListener`]. Its server writes everything before it flushes.
pub struct FlushStream<S> {
    stream: S,
    due: ConnectionReceipts,
}

impl<S: AsyncRead + Unpin> AsyncRead for FlushStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for FlushStream<S> {
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
