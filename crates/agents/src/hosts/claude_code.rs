//! Claude Code: the server in `~/.claude.json`, hooks in `~/.claude/settings.json`.

use super::hook::{Hooks, KeepGoing};
use super::host::{AgentHost, BaseDir, ConfigPath, FileFormat, HostEntry, HostFile, NAME, stdio};
use super::session::Identity;
use super::setup::json::Syntax;
use super::wake::WakeSignal;

/// The time limit of a hook, in seconds. It ends long before.
const TIMEOUT: u64 = 10;
/// How long an idle agent can be woken, in seconds.
const LONGEST_IDLE: u64 = 86_400;
/// A hook with this field runs in the background when the agent stops. Exit code 2 wakes the agent.
const WAKING_FIELD: &str = "asyncRewake";

pub(super) const HOST: AgentHost = AgentHost {
    id: "claude-code",
    title: "Claude Code",
    next: "restart Claude Code; check with /mcp and /hooks",
    hooks: Some(Hooks {
        context: &["UserPromptSubmit", "PostToolUse", "SessionStart"],
        stop: "Stop",
        keep_going: KeepGoing::Context,
        names_session: true,
        // Only the interactive program wakes its agent. `claude -p` and the SDKs do not, and the notification would be lost.
        wake: Some(WakeSignal { exit_code: 2, interactive: ("CLAUDE_CODE_ENTRYPOINT", "cli") }),
    }),
    identity: Identity {
        session_variable: Some("CLAUDE_CODE_SESSION_ID"),
        project_variable: Some("CLAUDE_PROJECT_DIR"),
        ..Identity::NONE
    },
    programs: &["claude"],
    files: &[
        HostFile {
            user: ConfigPath::new(BaseDir::HomeUnless("CLAUDE_CONFIG_DIR"), "", &[".claude.json"]),
            project: ConfigPath::new(BaseDir::Project, "", &[".mcp.json"]),
            format: FileFormat::Json(Syntax::Json),
            entries: &[HostEntry::Server { path: &["mcpServers", NAME], value: stdio }],
        },
        HostFile {
            user: ConfigPath::new(BaseDir::HomeUnless("CLAUDE_CONFIG_DIR"), ".claude", &["settings.json"]),
            project: ConfigPath::new(BaseDir::Project, ".claude", &["settings.json"]),
            format: FileFormat::Json(Syntax::Json),
            entries: &[
                HostEntry::Hook { path: &["hooks", "Stop"], matcher: None, timeout: TIMEOUT },
                HostEntry::Waker { path: &["hooks", "Stop"], field: WAKING_FIELD, timeout: LONGEST_IDLE },
                HostEntry::Hook { path: &["hooks", "PostToolUse"], matcher: Some("*"), timeout: TIMEOUT },
                HostEntry::Hook { path: &["hooks", "UserPromptSubmit"], matcher: None, timeout: TIMEOUT },
            ],
        },
    ],
};
