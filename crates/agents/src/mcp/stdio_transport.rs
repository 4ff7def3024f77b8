//! Messages on standard input and output, one per line. It replaces the SDK's transport, which answers an invalid
//! message without its id, so the sender waits forever, and whose queue of received messages is unbounded.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::sync::{Arc, Mutex};

use rmcp::RoleServer;
use rmcp::model::{ErrorCode, ErrorData, JsonRpcMessage, RequestId};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::delivery::draft::without;
use crate::delivery::pending_calls::PendingCalls;
use crate::delivery::receipts::{Receipt, Receipts};
use crate::lock::Lock;

/// Maximum number of bytes of one message.
const MAX_LINE: usize = 16 << 20;
/// Maximum size of unanswered requests, in bytes. Beyond it nothing more is read.
const MAX_OPEN: usize = 32 << 20;
/// The assumed overhead of an unanswered request, in bytes.
const OPEN_COST: usize = 4 << 10;

type Incoming = RxJsonRpcMessage<RoleServer>;
type Outgoing = TxJsonRpcMessage<RoleServer>;

/// One client on a pair of streams.
pub(super) struct StdioTransport<R> {
    read: BufReader<R>,
    line: Vec<u8>,
    /// Whether the rest of a line that is too long is being skipped.
    is_skipping: bool,
    /// Whether the client has sent its protocol version. Other messages before that are ignored.
    is_open: bool,
    parsed: VecDeque<Value>,
    unanswered: Arc<Unanswered>,
    receipts: Receipts,
    pending_calls: PendingCalls,
    out: Option<mpsc::UnboundedSender<Line>>,
    closing: CancellationToken,
}

/// A line to write.
struct Line {
    text: Vec<u8>,
    answers: Option<RequestId>,
    receipt: Option<Receipt>,
    written: oneshot::Sender<io::Result<()>>,
}

/// The requests that were not answered yet.
#[derive(Default)]
struct Unanswered {
    sizes: Mutex<HashMap<RequestId, usize>>,
    fewer: Notify,
}

impl Unanswered {
    fn add(&self, id: &RequestId, size: usize) {
        self.sizes.locked().insert(id.clone(), size + OPEN_COST);
    }

    fn remove(&self, id: &RequestId) {
        self.sizes.locked().remove(id);
        self.fewer.notify_one();
    }

    async fn wait(&self) {
        let size = || self.sizes.locked().values().sum::<usize>();
        while size() > MAX_OPEN {
            self.fewer.notified().await;
        }
    }
}

impl<R: AsyncRead + Send + Unpin> StdioTransport<R> {
    /// Creates the transport and its writer. The writer ends when the transport was dropped and everything is written.
    pub(super) fn new<W: AsyncWrite + Send + Unpin + 'static>(
        read: R,
        write: W,
        (receipts, pending_calls): (Receipts, PendingCalls),
        closing: CancellationToken,
    ) -> (Self, JoinHandle<()>) {
        let (out, lines) = mpsc::unbounded_channel();
        let unanswered = Arc::new(Unanswered::default());
        let writer = tokio::spawn(write_all(write, lines, Arc::clone(&unanswered), pending_calls.clone()));
        let transport = Self {
            read: BufReader::new(read),
            line: Vec::new(),
            is_skipping: false,
            is_open: false,
            parsed: VecDeque::new(),
            unanswered,
            receipts,
            pending_calls,
            out: Some(out),
            closing,
        };
        (transport, writer)
    }

    /// Reads one line, or an error if it is too long. Returns `None` at the end. Cancel-safe.
    async fn read_line(&mut self) -> Option<Result<Vec<u8>, ()>> {
        loop {
            let available = self.read.fill_buf().await.ok().filter(|bytes| !bytes.is_empty())?;
            let end = available.iter().position(|byte| *byte == b'\n');
            let taken = end.map_or(available.len(), |end| end + 1);
            let fits = self.line.len() + taken <= MAX_LINE;
            if !self.is_skipping && fits {
                self.line.extend_from_slice(&available[..taken]);
            }
            self.read.consume(taken);
            self.is_skipping |= !fits;
            if end.is_some() {
                let line = std::mem::take(&mut self.line);
                let was_skipping = std::mem::take(&mut self.is_skipping);
                return Some(if was_skipping { Err(()) } else { Ok(line) });
            }
            if self.is_skipping {
                self.line = Vec::new();
            }
        }
    }

    fn refuse(&self, id: Option<RequestId>, code: ErrorCode, message: String) {
        let refusal = Outgoing::error(ErrorData::new(code, message, None), id);
        drop(self.put(&refusal));
    }

    fn put(&self, message: &Outgoing) -> oneshot::Receiver<io::Result<()>> {
        let (written, answer) = oneshot::channel();
        let id = answered(message).cloned();
        let receipt = id.as_ref().and_then(|id| self.receipts.take(id));
        drop(id.as_ref().and_then(|id| self.pending_calls.take(id)));
        match (serde_json::to_vec(message), &self.out) {
            (Ok(mut text), Some(out)) => {
                text.push(b'\n');
                // If the writer has ended, the caller sees that the channel is closed.
                let _ = out.send(Line { text, answers: id, receipt, written });
            }
            (Ok(_), None) => _ = written.send(Err(io::ErrorKind::NotConnected.into())),
            (Err(error), _) => _ = written.send(Err(error.into())),
        }
        answer
    }

    /// Parses a message. An invalid request is refused.
    fn message(&mut self, value: Value) -> Option<Incoming> {
        let size = value.to_string().len();
        let id = value.get("id").cloned().and_then(|id| serde_json::from_value::<RequestId>(id).ok());
        let asks = value.get("method").is_some() && value.get("id").is_some();
        let tells = value.get("method").is_some() && !asks;
        let is_answer = value.get("result").is_some() || value.get("error").is_some();
        match serde_json::from_value::<Incoming>(value) {
            Ok(message) => {
                self.note(&message, size);
                let may_pass = self.is_open || matches!(message, JsonRpcMessage::Request(_));
                may_pass.then_some(message)
            }
            // These expect no answer.
            Err(_) if tells || is_answer => None,
            Err(error) => {
                let code = if asks { ErrorCode::INVALID_PARAMS } else { ErrorCode::INVALID_REQUEST };
                self.refuse(id, code, format!("not a protocol message: {error}"));
                None
            }
        }
    }

    fn note(&mut self, message: &Incoming, size: usize) {
        use rmcp::model::{ClientNotification, ClientRequest, GetMeta};
        match message {
            JsonRpcMessage::Request(asked) => {
                self.unanswered.add(&asked.id, size);
                if matches!(asked.request, ClientRequest::CallToolRequest(_)) {
                    self.pending_calls.add_as(&asked.id);
                }
                self.is_open |= match &asked.request {
                    ClientRequest::InitializeRequest(_) => true,
                    ClientRequest::DiscoverRequest(_) | ClientRequest::PingRequest(_) => false,
                    other => other.get_meta().protocol_version().is_some(),
                };
            }
            JsonRpcMessage::Notification(received) => {
                if let ClientNotification::CancelledNotification(cancelled) = &received.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    self.unanswered.remove(id);
                    drop(self.pending_calls.take(id));
                }
            }
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => {}
        }
    }
}

impl<R: AsyncRead + Send + Unpin + 'static> Transport<RoleServer> for StdioTransport<R> {
    type Error = io::Error;

    fn send(&mut self, message: Outgoing) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let written = self.put(&message);
        async move { written.await.unwrap_or_else(|_| Err(io::ErrorKind::BrokenPipe.into())) }
    }

    async fn receive(&mut self) -> Option<Incoming> {
        loop {
            while let Some(value) = self.parsed.pop_front() {
                if let Some(message) = self.message(value) {
                    return Some(message);
                }
            }
            self.unanswered.wait().await;
            let Some(line) = self.read_line().await else {
                self.closing.cancel();
                return None;
            };
            match line.map(|line| serde_json::from_slice(&line)) {
                // A revision of the protocol allowed several messages at a time.
                Ok(Ok(Value::Array(batch))) if !batch.is_empty() => self.parsed.extend(batch),
                Ok(Ok(value)) => self.parsed.push_back(value),
                // A line that is not JSON has no id to answer.
                Ok(Err(_)) => {}
                Err(()) => self.refuse(
                    None,
                    ErrorCode::INVALID_REQUEST,
                    format!("a message is longer than {MAX_LINE} bytes"),
                ),
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.out = None;
        Ok(())
    }
}

fn answered(message: &Outgoing) -> Option<&RequestId> {
    match message {
        JsonRpcMessage::Response(response) => Some(&response.id),
        JsonRpcMessage::Error(error) => error.id.as_ref(),
        JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => None,
    }
}

async fn write_all<W: AsyncWrite + Unpin>(
    mut write: W,
    mut lines: mpsc::UnboundedReceiver<Line>,
    unanswered: Arc<Unanswered>,
    pending_calls: PendingCalls,
) {
    while let Some(mut line) = lines.recv().await {
        if line.receipt.as_ref().is_some_and(Receipt::has_notices) {
            pending_calls.all_known().await;
        }
        let taken_out = line.receipt.as_ref().map(Receipt::close).unwrap_or_default();
        if !taken_out.is_empty()
            && let Some(mut text) = without(&line.text, &taken_out)
        {
            text.push(b'\n');
            line.text = text;
        }
        let wrote = async {
            write.write_all(&line.text).await?;
            write.flush().await
        };
        let wrote = wrote.await;
        if let (Ok(()), Some(receipt)) = (&wrote, line.receipt) {
            // This may wait for the disk.
            let _ = tokio::task::spawn_blocking(|| receipt.confirm()).await;
        }
        if let Some(id) = line.answers {
            unanswered.remove(&id);
        }
        let _ = line.written.send(wrote);
    }
}
