//! goose: recognised by its calls only; it has its own way to add a server.

use super::session::Identity;

pub(super) const IDENTITY: Identity = Identity {
    host: "goose",
    session_variable: None,
    project_variable: None,
    call_members: &["agent-session-id"],
};
