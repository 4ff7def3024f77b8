//! goose: known by its calls only; it is set up by its own means.

use super::session::Identity;

pub(super) const IDENTITY: Identity = Identity {
    host: "goose",
    session_variable: None,
    project_variable: None,
    call_members: &["agent-session-id"],
};
