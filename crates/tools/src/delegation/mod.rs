//! Delegates work to another agent.
//!
//! `registry` lists the available agents, `order` converts a call to a task, and `worktree` gives the agent a copy of
//! the project. `mw-agents` drives the agent.

mod order;
mod registry;
pub mod worktree;

pub use order::{AgentCall, AgentSettings, order};
pub use registry::{AgentEntry, Registry};
