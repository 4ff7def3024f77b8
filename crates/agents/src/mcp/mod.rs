//! The MCP server: tools, resources and tasks over standard input and output or over HTTP.
//!
//! ```text
//! client ─▶ transport ─▶ Server ─▶ a separate thread: CallContext, one tool ─▶ reply
//!             │             │                                                   │
//!             │             └─ delivery: notifications of the session ──────────┤
//!             └── reply written: acknowledge them ◀── receipts ◀────────────────┘
//! ```
//!
//! All durable state is in the engine. A server may be killed at any moment: tasks keep running, and the next server
//! delivers the notifications that were not written.

mod caller;
mod elicitation;
mod handler;
mod http;
mod http_clients;
mod http_receipts;
mod options;
mod recipient;
mod reply;
mod resources;
mod server;
mod stdio;
mod stdio_transport;
mod subscriptions;
mod tasks;
mod tool_call;

pub use http::{http_routes, http_routes_through};
pub use http_receipts::{ConnectionReceipts, FlushListener, FlushStream};
pub use options::ServerOptions;
pub use server::Server;
pub use stdio::serve_stdio;
