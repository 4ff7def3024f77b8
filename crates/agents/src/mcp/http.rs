//! Serving many clients over HTTP on this machine: a token, and only requests that were meant for it.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use http_body::{Frame, SizeHint};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

use super::receipts::Receipt;
use super::server::Server;

/// Where to serve, and for whom.
#[derive(Clone, Debug)]
pub struct HttpOptions {
    /// The address; it must be one of this machine's own.
    pub address: SocketAddr,
    /// What every request must bear.
    pub token: String,
}

/// A server that listens and has not begun to serve.
pub struct Listening {
    listener: std::net::TcpListener,
    server: Server,
    token: String,
}

/// Begins to listen.
///
/// # Errors
/// When the address is not one of this machine's own, or is taken.
pub fn listen(server: Server, options: &HttpOptions) -> io::Result<Listening> {
    if !options.address.ip().is_loopback() {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            format!("{} can be reached from other machines; use 127.0.0.1", options.address),
        ));
    }
    let listener = std::net::TcpListener::bind(options.address)?;
    listener.set_nonblocking(true)?;
    Ok(Listening { listener, server, token: options.token.clone() })
}

impl Listening {
    /// Returns where it listens.
    ///
    /// # Errors
    /// When the system does not say.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves until the process is told to end.
    ///
    /// # Errors
    /// When the runtime cannot be made or the listener fails.
    pub fn serve(self) -> io::Result<()> {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
        let served = runtime.block_on(self.run());
        runtime.shutdown_background();
        served
    }

    async fn run(self) -> io::Result<()> {
        let mut interrupt = signal(SignalKind::interrupt())?;
        let mut terminate = signal(SignalKind::terminate())?;
        let closing = self.server.inner.closing.clone();
        let router = router(self.server, &self.token);
        let listener = TcpListener::from_std(self.listener)?;
        tokio::select! {
            served = axum::serve(listener, router) => served,
            _ = interrupt.recv() => { closing.begin(); Ok(()) }
            _ = terminate.recv() => { closing.begin(); Ok(()) }
        }
    }
}

/// Returns the routes: the protocol under `/mcp`, nothing else.
fn router(server: Server, token: &str) -> Router {
    let config = StreamableHttpServerConfig::default().enforce_origin_validation();
    let service: StreamableHttpService<Server, LocalSessionManager> =
        StreamableHttpService::new(move || Ok(server.for_another()), Arc::default(), config);
    Router::new()
        .nest_service("/mcp", service)
        .layer(middleware::from_fn(confirm))
        .layer(middleware::from_fn_with_state(Arc::<str>::from(token), admit))
}

/// Lets nobody in who does not bear the token.
async fn admit(State(token): State<Arc<str>>, request: Request, next: Next) -> Response {
    if bears(request.headers(), &token) {
        return next.run(request).await;
    }
    let said = [(header::WWW_AUTHENTICATE, "Bearer")];
    (StatusCode::UNAUTHORIZED, said, "the token is missing or wrong: send Authorization: Bearer TOKEN\n")
        .into_response()
}

fn bears(headers: &HeaderMap, token: &str) -> bool {
    let given = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let given = given.and_then(|value| value.strip_prefix("Bearer ")).unwrap_or_default();
    // Compared in whole, so that time tells nothing.
    let differing = given.bytes().zip(token.bytes()).fold(0, |sum, (a, b)| sum | (a ^ b));
    given.len() == token.len() && differing == 0
}

/// The receipts of the replies to one request.
#[derive(Clone, Default)]
pub(super) struct HttpReceipts(Arc<Mutex<Vec<Receipt>>>);

impl HttpReceipts {
    pub(super) fn expect(&self, receipt: Receipt) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(receipt);
    }

    fn confirm(&self) {
        let receipts = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        if !receipts.is_empty() {
            tokio::task::spawn_blocking(|| receipts.into_iter().for_each(Receipt::confirm));
        }
    }
}

/// Notes when a reply has gone out whole.
async fn confirm(mut request: Request, next: Next) -> Response {
    let receipts = HttpReceipts::default();
    request.extensions_mut().insert(receipts.clone());
    let (parts, body) = next.run(request).await.into_parts();
    Response::from_parts(parts, Body::new(Confirming { body, receipts }))
}

/// A body that says when its end has been taken.
struct Confirming {
    body: Body,
    receipts: HttpReceipts,
}

impl http_body::Body for Confirming {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(context);
        let is_whole =
            matches!(polled, Poll::Ready(None)) || (polled.is_ready() && self.body.is_end_stream());
        if is_whole {
            self.receipts.confirm();
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
