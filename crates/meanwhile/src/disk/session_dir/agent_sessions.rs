//! The names of the sessions that belong to an agent.

use std::path::Path;

use mw_model::TaskId;

use super::dir::SessionDir;

/// Suffix of the session that keeps an agent alive.
const KEEPER: &str = ":keeper";

/// Returns the session of the process that keeps an agent alive between two messages.
#[must_use]
pub fn keeper_session(id: &TaskId) -> String {
    format!("{}{KEEPER}", child_session(id))
}

/// Returns the agent's task of a keeper's session; `None` for other sessions. The database recognises these sessions
/// by the same form.
pub(crate) fn kept_agent(session: &str) -> Option<TaskId> {
    session.strip_suffix(KEEPER)?.parse().ok().filter(TaskId::is_of_agent)
}

/// Returns whether a task's agent may have had a keeper, without reading the database.
pub(crate) fn has_keeper(sessions: &Path, id: &TaskId) -> bool {
    id.is_of_agent() && SessionDir::of(sessions, &keeper_session(id)).path().exists()
}

/// Returns the session of an agent's own tasks.
#[must_use]
pub fn child_session(id: &TaskId) -> String {
    id.to_string()
}
