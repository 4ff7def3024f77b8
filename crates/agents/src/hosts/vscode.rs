//! VS Code: the server in the user's `mcp.json`, or in `.vscode/mcp.json`.

use super::host::{Base, ConfigPath, Entry, Format, Host, HostFile, NAME, stdio};
use super::session::Identity;
use super::setup::json::Syntax;

pub(super) const HOST: Host = Host {
    id: "vscode",
    title: "VS Code",
    next: "VS Code asks whether to trust the server when it is first used; MCP: List Servers shows it",
    hooks: None,
    identity: Identity::NONE,
    programs: &["code"],
    files: &[HostFile {
        user: ConfigPath::new(Base::Config, "Code/User", &["mcp.json"]),
        project: ConfigPath::new(Base::Project, ".vscode", &["mcp.json"]),
        format: Format::Json(Syntax::Jsonc),
        entries: &[Entry::Server { path: &["servers", NAME], value: stdio }],
    }],
};
