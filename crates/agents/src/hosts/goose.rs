//! goose: recognised by its calls only. It adds servers by its own commands, so there is nothing to set up.

use super::host::Host;
use super::session::Identity;

pub(super) const HOST: Host = Host {
    id: "goose",
    title: "goose",
    next: "",
    hooks: None,
    identity: Identity { call_fields: &["agent-session-id"], ..Identity::NONE },
    programs: &["goose"],
    files: &[],
};
