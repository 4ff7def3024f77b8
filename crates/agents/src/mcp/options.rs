//! The options of a server.

use meanwhile::Meanwhile;
use mw_tools::Toolset;
use mw_tools::call::CallSettings;
use mw_tools::dialects::Dialect;

use crate::delivery::deliveries::DeliveredWith;
use crate::hosts::SessionEvidence;

/// The options of a server.
pub struct ServerOptions {
    /// The home.
    pub home: Meanwhile,
    /// The settings of calls. The session is set for each call.
    pub call_settings: CallSettings,
    /// The tools.
    pub toolset: Toolset,
    /// The dialect of the instructions and notifications.
    pub dialect: Dialect,
    /// What is known about the session before a call.
    pub evidence: SessionEvidence,
    /// Who delivers the notifications of a session.
    pub tells: DeliveredWith,
    /// Whether all clients get structured data in addition to the text, not only those that request it.
    pub structured: bool,
}
