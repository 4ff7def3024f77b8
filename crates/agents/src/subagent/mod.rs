//! Subagents: other agents, driven over the Agent Client Protocol as tasks.
//!
//! ```text
//! task ──▶ supervisor ──▶ driver ──▶ link ──▶ the agent's process, or the keeper that has it
//!  │                        ├─ turn         one prompt and its answer, over `acp`
//!  └─ agent.json ◀──────────┴─ transcript   what the agent says and does
//! ```
//!
//! The driver is an ordinary command under an ordinary supervisor, so an agent task has the same kill tree, limits and
//! crash handling as every other task. Only the protocol reports when a turn is over, and only the supervisor knows how
//! the driver ended.

mod driver;
mod keeper;
mod link;
mod transcript;
mod turn;

pub use driver::{DriverOptions, drive};
pub use keeper::keep;
