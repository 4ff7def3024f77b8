//! The names of the sessions that belong to an agent.

use mw_model::{TaskId, TaskKind};

use crate::disk::home::Home;

/// What the name of a session has at its end in which an agent is kept alive.
const KEEPER: &str = ":keeper";

/// Returns the session of what keeps an agent alive between two messages.
#[must_use]
pub fn keeper_session(id: &TaskId) -> String {
    format!("{}{KEEPER}", child_session(id))
}

/// Returns the agent's task whose keeper has this session, if one has. The database knows such sessions by the same form.
pub(crate) fn kept_agent(session: &str) -> Option<TaskId> {
    session.strip_suffix(KEEPER)?.parse().ok().filter(is_of_agent)
}

/// Tells without the database whether anything may have kept a task's agent alive.
pub(crate) fn has_keeper(home: &Home, id: &TaskId) -> bool {
    is_of_agent(id) && home.session(&keeper_session(id)).path().exists()
}

pub(crate) fn is_of_agent(id: &TaskId) -> bool {
    id.as_str().starts_with(TaskKind::Agent.prefix())
}

/// Returns the session in which an agent's own tasks are.
#[must_use]
pub fn child_session(id: &TaskId) -> String {
    id.to_string()
}
