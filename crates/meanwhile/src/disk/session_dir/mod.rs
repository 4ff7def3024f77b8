//! One session's files.
//!
//! `dir` numbers its tasks and gives them slots. A `lease` shows that a process holds the session, and `holder_loss`
//! records since when the session has had no holder. `agent_sessions` names the sessions that belong to an agent.
//! `call_socket` is where a host answers calls of confined tasks.

pub(crate) mod agent_sessions;
pub(crate) mod call_socket;
pub(crate) mod dir;
pub(crate) mod holder_loss;
pub(crate) mod lease;
