//! What agents and their hosts see: one set of operations, several dialects to ask for them, an MCP server,
//! hooks, and the set-up of hosts.
#![forbid(unsafe_code)]

pub mod acp;
pub mod agent;
pub mod chat;
pub mod dialects;
pub mod hook;
pub mod mcp;
mod session_of;
pub mod setup;
mod table;
pub mod tools;
mod toolset;

pub use dialects::Dialect;
pub use session_of::{Clues, HostSession, is_shared, session_of};
pub use table::table;
pub use toolset::{CustomTool, Form, RegistryError, ToolSpec, Toolset, USUAL_WAIT_MS};

/// Compiles the examples of the page.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/tools.md")]
pub struct ToolsPage;
