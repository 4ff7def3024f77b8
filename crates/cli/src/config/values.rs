//! The values of the settings that only the command line uses, by section.

use meanwhile::engine::ApprovalTimeouts;
use meanwhile::policy::Mode;
use mw_agents::DeliveredWith;

/// Settings of tool calls.
pub(crate) struct ToolSettings {
    pub(crate) reply_bytes: u64,
    pub(crate) stream_bytes: u64,
    pub(crate) longest_call_ms: u64,
    pub(crate) wait_ms: u64,
    pub(crate) no_background: bool,
    pub(crate) notices: bool,
}

impl ToolSettings {
    /// Returns which process delivers the notifications of a session.
    pub(crate) const fn tells(&self) -> DeliveredWith {
        if self.notices { DeliveredWith::Replies } else { DeliveredWith::Host }
    }
}

/// Settings of chats.
pub(crate) struct ChatSettings {
    pub(crate) auto_wake: bool,
    pub(crate) layout: String,
}

/// Settings of subagents.
pub(crate) struct SubagentSettings {
    pub(crate) max_depth: u32,
    pub(crate) cancel_ms: u64,
    pub(crate) silence_ms: u64,
    pub(crate) linger_ms: u64,
    pub(crate) default: String,
}

/// Settings of the built-in agent.
pub(crate) struct BuiltinAgentSettings {
    pub(crate) model: Option<String>,
    pub(crate) base_url: Option<String>,
    pub(crate) key_file: Option<String>,
    pub(crate) context_tokens: u64,
    pub(crate) max_requests: u64,
    pub(crate) max_calls: u64,
    pub(crate) silence_ms: u64,
}

/// Settings of the policy.
#[derive(Default)]
pub(crate) struct PolicySettings {
    pub(crate) mode: Mode,
    pub(crate) ci_reads: bool,
    pub(crate) writable: Vec<String>,
    pub(crate) timeouts: ApprovalTimeouts,
}
