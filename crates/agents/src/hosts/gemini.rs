//! Gemini CLI: server and hooks in `~/.gemini/settings.json`.

use serde_json::{Value, json};

use super::hook::{Hooks, KeepGoing};
use super::host::{AgentHost, BaseDir, ConfigPath, FileFormat, HostEntry, HostFile, NAME};
use super::session::Identity;
use super::setup::json::Syntax;

/// The time limit of a hook, in milliseconds. It ends long before.
const TIMEOUT: u64 = 10_000;
/// The time limit of a call in milliseconds. Without it Gemini CLI gives up after ten minutes.
const CALL_MS: u64 = 3_600_000;

fn server(program: &str) -> Value {
    json!({"command": program, "args": ["mcp"], "timeout": CALL_MS})
}

pub(super) const HOST: AgentHost = AgentHost {
    id: "gemini",
    title: "Gemini CLI",
    next: "restart Gemini CLI; check with /mcp and /hooks",
    hooks: Some(Hooks {
        context: &["BeforeAgent", "AfterTool", "SessionStart"],
        stop: "AfterAgent",
        keep_going: KeepGoing::Block,
        // Its server cannot know the session, so its hooks must not name it either.
        names_session: false,
        wake: None,
    }),
    identity: Identity { project_variable: Some("GEMINI_PROJECT_DIR"), ..Identity::NONE },
    programs: &["gemini"],
    files: &[HostFile {
        user: ConfigPath::new(BaseDir::HomeIn("GEMINI_CLI_HOME"), ".gemini", &["settings.json"]),
        project: ConfigPath::new(BaseDir::Project, ".gemini", &["settings.json"]),
        format: FileFormat::Json(Syntax::Comments),
        entries: &[
            HostEntry::Hook { path: &["hooks", "AfterAgent"], matcher: None, timeout: TIMEOUT },
            HostEntry::Hook { path: &["hooks", "AfterTool"], matcher: Some("*"), timeout: TIMEOUT },
            HostEntry::Hook { path: &["hooks", "BeforeAgent"], matcher: None, timeout: TIMEOUT },
            HostEntry::Server { path: &["mcpServers", NAME], value: server },
        ],
    }],
};
