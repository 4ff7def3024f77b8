//! VS Code: the server in the user's `mcp.json`, or in `.vscode/mcp.json`.

use super::host::{AgentHost, BaseDir, ConfigPath, FileFormat, HostEntry, HostFile, NAME, stdio};
use super::session::Identity;
use super::setup::json::Syntax;

pub(super) const HOST: AgentHost = AgentHost {
    id: "vscode",
    title: "VS Code",
    next: "VS Code asks whether to trust the server when it is first used; MCP: List Servers shows it",
    hooks: None,
    identity: Identity::NONE,
    programs: &["code"],
    files: &[HostFile {
        user: ConfigPath::new(BaseDir::Config, "Code/User", &["mcp.json"]),
        project: ConfigPath::new(BaseDir::Project, ".vscode", &["mcp.json"]),
        format: FileFormat::Json(Syntax::Jsonc),
        entries: &[HostEntry::Server { path: &["servers", NAME], value: stdio }],
    }],
};
