//! Zed: the server in `~/.config/zed/settings.json`.

use serde_json::{Value, json};

use super::host::{Base, ConfigPath, Entry, Format, Host, HostFile, NAME};
use super::session::Identity;
use super::setup::json::Syntax;

fn server(program: &str) -> Value {
    json!({"command": program, "args": ["mcp"]})
}

pub(super) const HOST: Host = Host {
    id: "zed",
    title: "Zed",
    next: "Zed loads it by itself; the agent panel's settings show a green dot when it runs",
    hooks: None,
    identity: Identity::NONE,
    programs: &["zed", "zeditor", "zed-editor"],
    files: &[HostFile {
        user: ConfigPath::new(Base::Config, "zed", &["settings.json"]),
        project: ConfigPath::new(Base::Project, ".zed", &["settings.json"]),
        format: Format::Json(Syntax::Jsonc),
        entries: &[Entry::Server { path: &["context_servers", NAME], value: server }],
    }],
};
