//! Gemini CLI: server and hooks in `~/.gemini/settings.json`.

use super::{NAME, command_and_args};
use crate::setup::host::{Base, Entry, Format, Host, HostFile, Place};
use crate::setup::json::Syntax;
use crate::setup::value::Value;

/// What a hook may take, in milliseconds; it gives up by itself long before.
const PATIENCE: u64 = 10_000;
/// What a call may take, in milliseconds. Gemini CLI gives up after ten minutes unless told.
const CALL_MS: u64 = 3_600_000;

fn server(program: &str) -> Value {
    let limit = ("timeout", Value::Number(CALL_MS));
    Value::Table(command_and_args(program).into_iter().chain([limit]).collect())
}

pub(super) const HOST: Host = Host {
    id: "gemini",
    title: "Gemini CLI",
    next: "start Gemini CLI anew; /mcp and /hooks show what it has loaded",
    programs: &["gemini"],
    files: &[HostFile {
        user: Place {
            base: Base::HomeIn("GEMINI_CLI_HOME"),
            directory: ".gemini",
            names: &["settings.json"],
        },
        project: Place { base: Base::Project, directory: ".gemini", names: &["settings.json"] },
        format: Format::Json(Syntax::Comments),
        entries: &[
            Entry::Hook { path: &["hooks", "AfterAgent"], matcher: None, timeout: PATIENCE },
            Entry::Hook { path: &["hooks", "AfterTool"], matcher: Some("*"), timeout: PATIENCE },
            Entry::Hook { path: &["hooks", "BeforeAgent"], matcher: None, timeout: PATIENCE },
            Entry::Server { path: &["mcpServers", NAME], value: server },
        ],
    }],
};
