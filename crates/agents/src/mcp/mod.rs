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
mod clients;
mod delivery;
mod elicitation;
mod http;
mod lines;
mod member;
mod offer;
mod resources;
mod server;
mod stdio;
mod subscriptions;
mod tasks;

pub use delivery::{ConnectionReceipts, FlushListener, FlushStream};
pub use http::{http_routes, http_routes_through};
pub use offer::Offer;
pub use server::Server;
pub use stdio::serve_stdio;
