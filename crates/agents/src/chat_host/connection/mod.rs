//! A lasting connection to an agent: one process, one conversation, any number of turns.
//!
//! The driver of a task needs only one turn; a chat needs many. Both use `acp`. Events from the agent and requests to it are plain data,
//! and the owner of the connection never waits for the agent.

mod agent_connection;
mod entries;
mod observer;
mod requests;
mod session;
mod thread;

pub(super) use agent_connection::{AgentConnection, AgentEvent, AgentOrder, ConnectionOptions, TurnEnd};
pub(super) use observer::ChatObserver;
