//! Codex: the server in `~/.codex/config.toml`, hooks in `~/.codex/hooks.json`.

use serde_json::{Value, json};

use super::hook::{Hooks, KeepGoing};
use super::host::{AgentHost, BaseDir, ConfigPath, FileFormat, HostEntry, HostFile, NAME};
use super::session::Identity;
use super::setup::json::Syntax;

/// The time limit of a hook, in seconds. It ends long before.
const TIMEOUT: u64 = 10;
/// The time limit of a call in seconds. Without it Codex gives up earlier, even if progress is reported.
const CALL_SECONDS: u64 = 3600;
/// Codex passes almost no variables on. Without these the server would use another home.
const PASSED_ON: [&str; 7] = [
    "MEANWHILE_HOME",
    "MEANWHILE_SESSION",
    "MEANWHILE_CONFIG",
    "MEANWHILE_PROFILE",
    "XDG_STATE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_RUNTIME_DIR",
];

fn server(program: &str) -> Value {
    json!({"command": program, "args": ["mcp"], "env_vars": PASSED_ON, "tool_timeout_sec": CALL_SECONDS})
}

pub(super) const HOST: AgentHost = AgentHost {
    id: "codex",
    title: "Codex",
    next: "restart Codex; it asks once whether to trust the hooks (/hooks shows them)",
    hooks: Some(Hooks {
        context: &["UserPromptSubmit", "PostToolUse", "SessionStart"],
        stop: "Stop",
        keep_going: KeepGoing::Block,
        names_session: true,
        wake: None,
    }),
    identity: Identity { call_fields: &["sessionId", "threadId"], ..Identity::NONE },
    programs: &["codex"],
    files: &[
        HostFile {
            user: ConfigPath::new(BaseDir::HomeUnless("CODEX_HOME"), ".codex", &["config.toml"]),
            project: ConfigPath::new(BaseDir::Project, ".codex", &["config.toml"]),
            format: FileFormat::Toml,
            entries: &[HostEntry::Server { path: &["mcp_servers", NAME], value: server }],
        },
        HostFile {
            user: ConfigPath::new(BaseDir::HomeUnless("CODEX_HOME"), ".codex", &["hooks.json"]),
            project: ConfigPath::new(BaseDir::Project, ".codex", &["hooks.json"]),
            format: FileFormat::Json(Syntax::Json),
            entries: &[
                HostEntry::Hook { path: &["hooks", "Stop"], matcher: None, timeout: TIMEOUT },
                HostEntry::Hook { path: &["hooks", "PostToolUse"], matcher: None, timeout: TIMEOUT },
                HostEntry::Hook { path: &["hooks", "UserPromptSubmit"], matcher: None, timeout: TIMEOUT },
            ],
        },
    ],
};
