//! OpenCode: the server in `~/.config/opencode/opencode.json`.

use super::host::{Base, Entry, Format, Host, HostFile, Place};
use super::session::Identity;
use super::setup::entry::NAME;
use super::setup::json::Syntax;
use super::setup::value::Value;

/// The time limit of a call, in milliseconds.
const CALL_MS: u64 = 3_600_000;
const NAMES: &[&str] = &["opencode.json", "opencode.jsonc"];

fn server(program: &str) -> Value {
    Value::Table(vec![
        ("type", Value::Text("local".to_owned())),
        ("command", Value::texts([program, "mcp"])),
        ("enabled", Value::Flag(true)),
        ("timeout", Value::Number(CALL_MS)),
    ])
}

pub(super) const HOST: Host = Host {
    id: "opencode",
    title: "OpenCode",
    next: "restart OpenCode; check with opencode mcp list",
    hooks: None,
    identity: Identity::NONE,
    programs: &["opencode"],
    files: &[HostFile {
        user: Place { base: Base::Config, directory: "opencode", names: NAMES },
        project: Place { base: Base::Project, directory: "", names: NAMES },
        format: Format::Json(Syntax::Jsonc),
        entries: &[Entry::Server { path: &["mcp", NAME], value: server }],
    }],
};
