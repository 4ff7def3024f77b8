//! Zed: the server in `~/.config/zed/settings.json`.

use serde_json::{Value, json};

use super::host::{AgentHost, BaseDir, ConfigPath, FileFormat, HostEntry, HostFile, NAME};
use super::session::Identity;
use super::setup::json::Syntax;

fn server(program: &str) -> Value {
    json!({"command": program, "args": ["mcp"]})
}

pub(super) const HOST: AgentHost = AgentHost {
    id: "zed",
    title: "Zed",
    next: "Zed loads it by itself; the agent panel's settings show a green dot when it runs",
    hooks: None,
    identity: Identity::NONE,
    programs: &["zed", "zeditor", "zed-editor"],
    files: &[HostFile {
        user: ConfigPath::new(BaseDir::Config, "zed", &["settings.json"]),
        project: ConfigPath::new(BaseDir::Project, ".zed", &["settings.json"]),
        format: FileFormat::Json(Syntax::Jsonc),
        entries: &[HostEntry::Server { path: &["context_servers", NAME], value: server }],
    }],
};
