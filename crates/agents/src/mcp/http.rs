//! The HTTP routes of the server, for the process that serves them.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{Method, StatusCode};
use axum::middleware::{self, Next};
use axum::response::Response;
use rmcp::ServerHandler;
use rmcp::transport::streamable_http_server::session::SessionManager;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};

use super::http_clients::CLIENT_HEADER;
use super::http_receipts::follow;
use super::server::Server;

/// Returns the routes of a server for many clients: the protocol under `/mcp`, nothing else.
///
/// They do not check who sends a request. Serve them behind a guard, through a [`FlushListener`](super::FlushListener)
/// with [`ConnectionReceipts`](super::ConnectionReceipts), and await [`Server::last_words`] before the process ends.
pub fn http_routes(server: &Server) -> Router {
    let clients = server.clone();
    http_routes_through(server, move || clients.for_client())
}

/// Returns the same routes with a handler in front of the server for each client, which may offer more than the server.
pub fn http_routes_through<H: ServerHandler>(
    server: &Server,
    handler: impl Fn() -> H + Send + Sync + 'static,
) -> Router {
    let ends = ClientSessions { server: server.clone(), clients: Arc::default() };
    let config = StreamableHttpServerConfig::default().disable_allowed_hosts().disable_allowed_origins();
    let service: StreamableHttpService<H, LocalSessionManager> =
        StreamableHttpService::new(move || Ok(handler()), Arc::clone(&ends.clients), config);
    let pending_calls = server.inner.pending_calls.clone();
    Router::new()
        .nest_service("/mcp", service)
        .layer(middleware::from_fn_with_state(pending_calls, follow))
        .layer(middleware::from_fn_with_state(ends, confirm_end))
}

/// Releases the sessions of clients that have left.
#[derive(Clone)]
struct ClientSessions {
    server: Server,
    clients: Arc<LocalSessionManager>,
}

impl ClientSessions {
    /// Releases the sessions of a client, unless another one uses them.
    async fn client_left(&self, client: &str) {
        let inner = &self.server.inner;
        let mut living = Vec::new();
        for other in inner.clients.names() {
            if self.clients.has_session(&other.as_str().into()).await.unwrap_or(false) {
                living.push(other);
            }
        }
        for session in inner.clients.left(client, |other| living.iter().any(|name| name == other)) {
            inner.deliveries.leave(&session);
            inner.task_calls.leave(&session);
        }
    }
}

/// Answers a DELETE with 200 after the session has ended, as the official servers do. Clients take anything but 200 and
/// 204 for a failure.
async fn confirm_end(State(ends): State<ClientSessions>, request: Request, next: Next) -> Response {
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
