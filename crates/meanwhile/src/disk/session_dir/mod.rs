//! One session's files.
//!
//! `dir` counts its tasks and gives them slots. A `lease` shows that somebody holds the session, and `vacancy` notes since
//! when nobody does. `agent_sessions` names the sessions that belong to an agent.

pub(crate) mod agent_sessions;
pub(crate) mod dir;
pub(crate) mod lease;
pub(crate) mod vacancy;
