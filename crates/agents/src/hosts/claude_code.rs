//! Claude Code: the server in `~/.claude.json`, hooks in `~/.claude/settings.json`.

use super::hook::{Hooks, KeepGoing};
use super::host::{Base, ConfigPath, Entry, Format, Host, HostFile, NAME, stdio};
use super::session::Identity;
use super::setup::json::Syntax;

/// The time limit of a hook, in seconds. It ends long before.
const PATIENCE: u64 = 10;
/// How long an idle agent can be woken, in seconds.
const LONGEST_IDLE: u64 = 86_400;

pub(super) const HOST: Host = Host {
    id: "claude-code",
    title: "Claude Code",
    next: "restart Claude Code; check with /mcp and /hooks",
    hooks: Some(Hooks {
        context: &["UserPromptSubmit", "PostToolUse", "SessionStart"],
        stop: "Stop",
        keep_going: KeepGoing::Context,
        names_session: true,
        wakes: true,
    }),
    identity: Identity {
        session_variable: Some("CLAUDE_CODE_SESSION_ID"),
        project_variable: Some("CLAUDE_PROJECT_DIR"),
        ..Identity::NONE
    },
    programs: &["claude"],
    files: &[
        HostFile {
            user: ConfigPath::new(Base::HomeUnless("CLAUDE_CONFIG_DIR"), "", &[".claude.json"]),
            project: ConfigPath::new(Base::Project, "", &[".mcp.json"]),
            format: Format::Json(Syntax::Json),
            entries: &[Entry::Server { path: &["mcpServers", NAME], value: stdio }],
        },
        HostFile {
            user: ConfigPath::new(Base::HomeUnless("CLAUDE_CONFIG_DIR"), ".claude", &["settings.json"]),
            project: ConfigPath::new(Base::Project, ".claude", &["settings.json"]),
            format: Format::Json(Syntax::Json),
            entries: &[
                Entry::Hook { path: &["hooks", "Stop"], matcher: None, timeout: PATIENCE },
                Entry::Waker { path: &["hooks", "Stop"], timeout: LONGEST_IDLE },
                Entry::Hook { path: &["hooks", "PostToolUse"], matcher: Some("*"), timeout: PATIENCE },
                Entry::Hook { path: &["hooks", "UserPromptSubmit"], matcher: None, timeout: PATIENCE },
            ],
        },
    ],
};
