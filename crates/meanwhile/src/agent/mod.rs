//! What an agent's task keeps beside its log.
//!
//! `record` is what the agent was asked and has answered, what it is doing, and the socket at which one that is kept alive
//! is found.

pub(crate) mod record;

use crate::base::part;

part! {
    /// Tasks that are agents: their messages, records and results.
    Agents
}
