//! What agents and their hosts see: five dialects over one engine, hooks, and the set-up of hosts.
//!
//! A dialect is a projection and holds no state. So far each has its words for states; tools, the MCP
//! server and the ACP driver will stand here too.
#![forbid(unsafe_code)]

mod dialect;
pub mod hook;
mod session_of;
pub mod setup;

pub use dialect::Dialect;
pub use session_of::{Clues, HostSession, session_of};
