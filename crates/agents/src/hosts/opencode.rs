//! OpenCode: the server in `~/.config/opencode/opencode.json`.

use serde_json::{Value, json};

use super::host::{AgentHost, BaseDir, ConfigPath, FileFormat, HostEntry, HostFile, NAME};
use super::session::Identity;
use super::setup::json::Syntax;

/// The time limit of a call, in milliseconds.
const CALL_MS: u64 = 3_600_000;
const NAMES: &[&str] = &["opencode.json", "opencode.jsonc"];

fn server(program: &str) -> Value {
    json!({"type": "local", "command": [program, "mcp"], "enabled": true, "timeout": CALL_MS})
}

pub(super) const HOST: AgentHost = AgentHost {
    id: "opencode",
    title: "OpenCode",
    next: "restart OpenCode; check with opencode mcp list",
    hooks: None,
    identity: Identity::NONE,
    programs: &["opencode"],
    files: &[HostFile {
        user: ConfigPath::new(BaseDir::Config, "opencode", NAMES),
        project: ConfigPath::new(BaseDir::Project, "", NAMES),
        format: FileFormat::Json(Syntax::Jsonc),
        entries: &[HostEntry::Server { path: &["mcp", NAME], value: server }],
    }],
};
