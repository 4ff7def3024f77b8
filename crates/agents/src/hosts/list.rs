//! The list of hosts.

use super::host::AgentHost;
use super::{claude_code, codex, cursor, gemini, goose, opencode, vscode, zed};

/// All hosts. The first one that identifies its session in the environment or in a call is used.
pub static HOSTS: [AgentHost; 8] = [
    claude_code::HOST,
    codex::HOST,
    gemini::HOST,
    opencode::HOST,
    vscode::HOST,
    cursor::HOST,
    zed::HOST,
    goose::HOST,
];

/// Returns the hosts that can be set up.
pub fn hosts_with_setup() -> impl Iterator<Item = &'static AgentHost> {
    HOSTS.iter().filter(|host| !host.files.is_empty())
}
