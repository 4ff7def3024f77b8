//! The options of a server.

use meanwhile::Settings;
use mw_tools::Toolset;
use mw_tools::call::CallSettings;
use mw_tools::dialects::Dialect;

use crate::delivery::deliveries::Tells;
use crate::hosts::SessionEvidence;

/// The options of a server.
pub struct ServerOptions {
    /// The settings of the engine.
    pub settings: Settings,
    /// The settings of calls. The session is set for each call.
    pub call_settings: CallSettings,
    /// The tools.
    pub toolset: Toolset,
    /// The dialect of the instructions and notifications.
    pub dialect: Dialect,
    /// What is known about the session before a call.
    pub evidence: SessionEvidence,
    /// Who delivers the notifications of a session.
    pub tells: Tells,
    /// Whether all clients get structured data beside the text, not only those that request it.
    pub structured: bool,
}
