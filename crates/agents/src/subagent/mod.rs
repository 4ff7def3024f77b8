//! Subagents: other agents, driven over the Agent Client Protocol as tasks.
//!
//! ```text
//! order ──▶ task ──▶ supervisor ──▶ driver ──▶ the agent's process
//!  (who,      │                       ├─ wire         lines in and out, garbage counted
//!  what)      │                       ├─ client       requests of the agent: files, terminals, permission
//!  registry   └─ agent.json ◀─────────┴─ transcript   what it says and does
//! ```
//!
//! The driver is an ordinary command under an ordinary supervisor, so an agent task has the kill tree, the limits
//! and the crash rules of every other. Only the protocol knows when a turn is over; only the supervisor knows how
//! the driver ended.

mod asking;
mod client;
mod connection;
mod driver;
mod error;
mod files;
mod given;
mod handshake;
mod heard;
mod hold;
mod keeper;
mod link;
mod opening;
mod permissions;
mod process;
mod quirks;
mod serving;
mod talk;
mod terminals;
mod transcript;
mod wire;

pub(crate) use asking::{HEARD, PROPOSAL};
pub use connection::{AgentConnection, AgentEvent, ConnectionOptions, Offer, Services, TurnEnd};
pub use driver::{DriverOptions, drive};
pub use error::AcpError;
pub use handshake::{Handshake, greet};
pub use keeper::keep;
pub use permissions::{Answer, Asked, Permissions, PolicyPermissions};
