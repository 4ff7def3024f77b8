//! Cursor: the server in `~/.cursor/mcp.json`.

use super::{NAME, stdio};
use crate::setup::host::{Base, Entry, Format, Host, HostFile, Place};
use crate::setup::json::Syntax;

pub(super) const HOST: Host = Host {
    id: "cursor",
    title: "Cursor",
    next: "switch it on under Settings, Tools & MCP, if Cursor has not done so by itself",
    programs: &["cursor", "cursor-agent"],
    files: &[HostFile {
        user: Place { base: Base::Home, directory: ".cursor", names: &["mcp.json"] },
        project: Place { base: Base::Project, directory: ".cursor", names: &["mcp.json"] },
        format: Format::Json(Syntax::Jsonc),
        entries: &[Entry::Server { path: &["mcpServers", NAME], value: stdio }],
    }],
};
