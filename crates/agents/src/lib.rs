//! The side of meanwhile that agents and their hosts see.
//!
//! ```text
//! hosts      coding agents that run `mw`: their setup, hooks and session identity
//! mcp        the MCP server, which offers the tools to them
//! acp        the Agent Client Protocol as a client: runs other agents and answers their requests
//! subagent   an agent that runs for one turn, as a task
//! builtin    our own agent
//! chat_host  a person and an agent: everything behind the screen of `mw chat`
//! delivery   notifications with the replies of the MCP server and of our own agent
//! ```
#![forbid(unsafe_code)]

pub mod acp;
pub mod builtin;
pub mod chat_host;
mod delivery;
pub mod event_loop;
pub mod hosts;
mod line_file;
mod lock;
pub mod mcp;
mod new_file;
mod question;
pub mod subagent;

pub use delivery::DeliveredWith;
