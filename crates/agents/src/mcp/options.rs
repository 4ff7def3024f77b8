//! The options of a server.

use meanwhile::Settings;
use mw_tools::Toolset;
use mw_tools::call::Premises;
use mw_tools::dialects::Dialect;

use crate::delivery::deliveries::Tells;
use crate::hosts::Clues;

/// The options of a server.
pub struct ServerOptions {
    /// The engine.
    pub settings: Settings,
    /// What holds for calls. The session is set for each.
    pub premises: Premises,
    /// The tools.
    pub toolset: Toolset,
    /// Whose words the instructions use.
    pub dialect: Dialect,
    /// Who is asking, as far as it is known before a call.
    pub clues: Clues,
    /// Who delivers the notifications of a session.
    pub tells: Tells,
    /// Whether all clients get data beside the text, and not only those that ask for it.
    pub structured: bool,
}
