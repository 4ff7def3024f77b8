//! Cursor: the server in `~/.cursor/mcp.json`.

use super::host::{AgentHost, BaseDir, ConfigPath, FileFormat, HostEntry, HostFile, NAME, stdio};
use super::session::Identity;
use super::setup::json::Syntax;

pub(super) const HOST: AgentHost = AgentHost {
    id: "cursor",
    title: "Cursor",
    next: "enable it under Settings, Tools & MCP, if Cursor has not done so",
    hooks: None,
    identity: Identity::NONE,
    programs: &["cursor", "cursor-agent"],
    files: &[HostFile {
        user: ConfigPath::new(BaseDir::Home, ".cursor", &["mcp.json"]),
        project: ConfigPath::new(BaseDir::Project, ".cursor", &["mcp.json"]),
        format: FileFormat::Json(Syntax::Jsonc),
        entries: &[HostEntry::Server { path: &["mcpServers", NAME], value: stdio }],
    }],
};
