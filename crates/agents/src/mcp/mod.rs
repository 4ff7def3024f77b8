//! The MCP server: tools, resources and tasks over standard input and output or over HTTP.
//!
//! ```text
//! client ─▶ transport ─▶ Server ─▶ a thread of its own: Desk, one tool ─▶ reply
//!             │             │                                              │
//!             │             └─ teller: what the session was not told ──────┤
//!             └── reply written: what it told is told ◀── receipts ◀───────┘
//! ```
//!
//! Everything that lasts is in the engine. A server may be killed at any moment: tasks go on, and what was not
//! written is told by the next one.

mod caller;
mod clients;
#[doc(hidden)]
pub mod conformance;
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

pub use http::{HttpOptions, Listening, listen, listen_for_conformance};
pub use offer::Offer;
pub use server::Server;
pub use stdio::serve_stdio;
