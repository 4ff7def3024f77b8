//! Cursor: the server in `~/.cursor/mcp.json`.

use super::host::{Base, ConfigPath, Entry, Format, Host, HostFile, NAME, stdio};
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
        user: ConfigPath::new(Base::Home, ".cursor", &["mcp.json"]),
        project: ConfigPath::new(Base::Project, ".cursor", &["mcp.json"]),
        format: Format::Json(Syntax::Jsonc),
        entries: &[Entry::Server { path: &["mcpServers", NAME], value: stdio }],
    }],
};
