//! What agents and their hosts see: one set of operations, several dialects to ask for them, an MCP server,
//! hooks, and the set-up of hosts.
#![forbid(unsafe_code)]

pub mod acp;
pub mod agent;
pub mod chat;
pub mod hook;
pub mod mcp;
mod session_of;
pub mod setup;

pub use session_of::{Clues, HostSession, session_of};
