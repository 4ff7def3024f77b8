//! One session's files.
//!
//! `dir` numbers its tasks and gives them slots. A `lease` shows that a process holds the session, and `holder_loss`
//! records since when the session has had no holder. `agent_sessions` names the sessions that belong to an agent.

pub(crate) mod agent_sessions;
pub(crate) mod dir;
pub(crate) mod holder_loss;
pub(crate) mod lease;
