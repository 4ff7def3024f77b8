//! The Agent Client Protocol, as a client: runs another agent and answers its requests.
//!
//! ```text
//! process ─▶ wire ─▶ session: initialize, session/new or session/load
//!              └───▶ converse ─▶ client ─▶ files, terminals (tasks of the engine)
//!                                   └────▶ requested ─▶ permissions (policy, approvals)
//! ```
//!
//! `subagent` runs an agent for one turn, as a task; `chat_host` keeps a connection open. `handshake` only tests an agent.
//! `quirks` are the differences between agents, and `own_agent` what only our own agent understands.

pub(crate) mod approved;
pub(crate) mod client;
pub(crate) mod content;
pub(crate) mod converse;
pub(crate) mod error;
mod files;
mod handshake;
pub(crate) mod own_agent;
pub(crate) mod permissions;
pub(crate) mod process;
pub(crate) mod quirks;
pub(crate) mod requested;
pub(crate) mod session;
pub(crate) mod terminals;
pub(crate) mod wire;

pub use error::AcpError;
pub use handshake::greet;
pub use permissions::PolicyPermissions;
pub use session::Handshake;
