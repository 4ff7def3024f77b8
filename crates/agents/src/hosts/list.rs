//! The hosts that can be set up, and the ways in which hosts identify their session.

use super::host::Host;
use super::session::Identity;
use super::{claude_code, codex, cursor, gemini, goose, opencode, vscode, zed};

/// The hosts that can be set up.
pub static HOSTS: [Host; 7] =
    [claude_code::HOST, codex::HOST, gemini::HOST, opencode::HOST, vscode::HOST, cursor::HOST, zed::HOST];

/// How hosts say which session is asking.
pub(super) static IDENTITIES: [Identity; 4] =
    [claude_code::IDENTITY, codex::IDENTITY, gemini::IDENTITY, goose::IDENTITY];
