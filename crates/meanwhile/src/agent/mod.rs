//! Files that an agent's task has besides its log.
//!
//! `record` handles the agent's messages and answers, its current activity, and the socket of an agent that is kept
//! alive. `updates` reads all updates of the agent.

pub(crate) mod record;
pub(crate) mod updates;

use crate::base::part;

part! {
    /// Agent tasks: their messages, records and results.
    pub struct Agents;
}
