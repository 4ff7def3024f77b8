//! goose: recognised by its calls only. It adds servers by its own commands, so there is nothing to set up.

use super::host::AgentHost;
use super::session::Identity;

pub(super) const HOST: AgentHost = AgentHost {
    id: "goose",
    title: "goose",
    next: "",
    hooks: None,
    identity: Identity { call_fields: &["agent-session-id"], ..Identity::NONE },
    programs: &["goose"],
    files: &[],
};
