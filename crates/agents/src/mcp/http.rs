//! Serving many clients over HTTP on this machine: a token, and only requests that were meant for it.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use rmcp::ServerHandler;
use rmcp::transport::streamable_http_server::session::SessionManager;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::clients::CLIENT_HEADER;
use super::conformance::Fixtures;
use super::delivery::{Due, Tapped, follow};
use super::server::Server;
use super::stdio::LAST_WORDS;
use crate::delivery::calls::Calls;

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
    routes: Router,
    closing: CancellationToken,
    calls: Calls,
}

/// Begins to listen.
///
/// # Errors
/// When the address is not one of this machine's own, or is taken.
pub fn listen(server: &Server, options: &HttpOptions) -> io::Result<Listening> {
    let clients = server.clone();
    listen_before(move || clients.for_client(), server, options)
}

/// Begins to listen with the fixtures of the conformance suite in front of a server.
///
/// # Errors
/// See [`listen`].
#[doc(hidden)]
pub fn listen_for_conformance(server: &Server, options: &HttpOptions) -> io::Result<Listening> {
    let fixtures = Fixtures::before(server.clone());
    listen_before(move || fixtures.clone(), server, options)
}

/// Begins to listen with a handler for each client, which stands in front of a server.
fn listen_before<H: ServerHandler>(
    handler: impl Fn() -> H + Send + Sync + 'static,
    server: &Server,
    options: &HttpOptions,
) -> io::Result<Listening> {
    let ends = Ends { server: Some(server.clone()), clients: Arc::default() };
    listening(handler, ends, server.inner.closing.clone(), server.inner.calls.clone(), options)
}

fn listening<H: ServerHandler>(
    handler: impl Fn() -> H + Send + Sync + 'static,
    ends: Ends,
    closing: CancellationToken,
    calls: Calls,
    options: &HttpOptions,
) -> io::Result<Listening> {
    if !options.address.ip().is_loopback() {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            format!("{} can be reached from other machines; use 127.0.0.1", options.address),
        ));
    }
    let listener = std::net::TcpListener::bind(options.address)?;
    listener.set_nonblocking(true)?;
    let port = listener.local_addr()?.port();
    Ok(Listening { listener, routes: routes(handler, ends, port, &options.token), closing, calls })
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
        let mut hangup = signal(SignalKind::hangup())?;
        let closing = self.closing;
        let routes = self.routes.into_make_service_with_connect_info::<Due>();
        let listener = Tapped(TcpListener::from_std(self.listener)?);
        let served = async { axum::serve(listener, routes).await };
        let told_to_end = async {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
                _ = hangup.recv() => {}
            }
            closing.cancel();
            // Replies that are under way are still written.
            let _ = timeout(LAST_WORDS, self.calls.all_over()).await;
        };
        tokio::select! {
            served = served => served,
            () = told_to_end => Ok(()),
        }
    }
}

/// Returns the routes: the protocol under `/mcp`, nothing else.
fn routes<H: ServerHandler>(
    handler: impl Fn() -> H + Send + Sync + 'static,
    ends: Ends,
    port: u16,
    token: &str,
) -> Router {
    let own = ["127.0.0.1", "localhost"].map(|host| format!("http://{host}:{port}"));
    let config = StreamableHttpServerConfig::default().with_allowed_origins(own).enforce_origin_validation();
    let service: StreamableHttpService<H, LocalSessionManager> =
        StreamableHttpService::new(move || Ok(handler()), Arc::clone(&ends.clients), config);
    Router::new()
        .nest_service("/mcp", service)
        .layer(middleware::from_fn(follow))
        .layer(middleware::from_fn_with_state(ends, confirm_end))
        .layer(middleware::from_fn_with_state(Arc::<str>::from(token), admit))
}

/// What must know of the end of a client's session.
#[derive(Clone, Default)]
struct Ends {
    server: Option<Server>,
    clients: Arc<LocalSessionManager>,
}

impl Ends {
    /// Lets go of what a client held that has left.
    async fn client_left(&self, client: &str) {
        let Some(server) = &self.server else { return };
        let mut living = Vec::new();
        for other in server.clients() {
            if self.clients.has_session(&other.as_str().into()).await.unwrap_or(false) {
                living.push(other);
            }
        }
        server.client_left(client, |other| living.iter().any(|name| name == other));
    }
}

/// Answers the end of a session as the official servers do: it has ended when the answer comes, and is not merely
/// accepted. Clients take anything but 200 and 204 for a failure.
async fn confirm_end(State(ends): State<Ends>, request: Request, next: Next) -> Response {
    if request.method() != Method::DELETE {
        return next.run(request).await;
    }
    let client = request.headers().get(CLIENT_HEADER).and_then(|name| name.to_str().ok()).map(str::to_owned);
    let mut response = next.run(request).await;
    if response.status() == StatusCode::ACCEPTED {
        *response.status_mut() = StatusCode::OK;
        if let Some(client) = client {
            ends.client_left(&client).await;
        }
    }
    response
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

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    #[derive(Clone)]
    struct Nobody;

    impl ServerHandler for Nobody {}

    #[test]
    fn an_address_that_others_can_reach_is_refused() {
        let address = SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0));
        let options = HttpOptions { address, token: "a token".to_owned() };
        let Err(refused) =
            listening(|| Nobody, Ends::default(), CancellationToken::new(), Calls::default(), &options)
        else {
            panic!("it listens for everybody");
        };
        assert!(refused.to_string().contains("can be reached from other machines"), "{refused}");
    }
}
