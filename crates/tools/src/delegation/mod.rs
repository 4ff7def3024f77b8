//! Delegates work to another agent.
//!
//! `registry` knows which agents there are, `order` makes a call into a task, and `worktree` gives the agent a copy of
//! the project. Driving the agent is `mw-agents`' part.

mod order;
mod registry;
pub mod worktree;

pub use order::{AgentCall, AgentSettings, order};
pub use registry::{AgentEntry, Known, Registry};
