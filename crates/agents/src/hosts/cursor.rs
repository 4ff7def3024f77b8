//! Cursor: the server in `~/.cursor/mcp.json`.

use super::host::{Base, Entry, Format, Host, HostFile, NAME, Place, stdio};
use super::session::Identity;
use super::setup::json::Syntax;

pub(super) const HOST: Host = Host {
    id: "cursor",
    title: "Cursor",
    next: "enable it under Settings, Tools & MCP, if Cursor has not done so",
    hooks: None,
    identity: Identity::NONE,
    programs: &["cursor", "cursor-agent"],
    files: &[HostFile {
        user: Place { base: Base::Home, directory: ".cursor", names: &["mcp.json"] },
        project: Place { base: Base::Project, directory: ".cursor", names: &["mcp.json"] },
        format: Format::Json(Syntax::Jsonc),
        entries: &[Entry::Server { path: &["mcpServers", NAME], value: stdio }],
    }],
};
