//! The values of the settings that only the command line uses, by section.

use meanwhile::engine::ApprovalPatience;
use meanwhile::policy::Mode;
use mw_agents::Tells;
use mw_tools::USUAL_WAIT_MS;

/// Settings of tool calls.
pub(crate) struct ToolSettings {
    pub(crate) reply_bytes: u64,
    pub(crate) stream_bytes: u64,
    pub(crate) longest_call_ms: u64,
    pub(crate) wait_ms: u64,
    pub(crate) no_background: bool,
    pub(crate) notices: bool,
}

impl Default for ToolSettings {
    fn default() -> Self {
        Self {
            reply_bytes: 8 << 10,
            stream_bytes: 1 << 20,
            longest_call_ms: 240_000,
            wait_ms: USUAL_WAIT_MS,
            no_background: false,
            notices: true,
        }
    }
}

impl ToolSettings {
    /// Returns which process delivers the notifications of a session.
    pub(crate) const fn tells(&self) -> Tells {
        if self.notices { Tells::Replies } else { Tells::Host }
    }
}

/// Settings of chats.
pub(crate) struct ChatSettings {
    pub(crate) auto_wake: bool,
    pub(crate) layout: String,
}

impl Default for ChatSettings {
    fn default() -> Self {
        Self { auto_wake: true, layout: "auto".to_owned() }
    }
}

/// Settings of subagents.
pub(crate) struct SubagentSettings {
    pub(crate) max_depth: u32,
    pub(crate) cancel_ms: u64,
    pub(crate) silence_ms: u64,
    pub(crate) linger_ms: u64,
    pub(crate) default: String,
}

impl Default for SubagentSettings {
    fn default() -> Self {
        Self {
            max_depth: 2,
            cancel_ms: 2000,
            silence_ms: 300_000,
            linger_ms: 600_000,
            default: String::new(),
        }
    }
}

/// Settings of the built-in agent.
pub(crate) struct AgentSettings {
    pub(crate) model: Option<String>,
    pub(crate) base_url: Option<String>,
    pub(crate) key_file: Option<String>,
    pub(crate) context_tokens: u64,
    pub(crate) max_requests: u64,
    pub(crate) max_calls: u64,
    pub(crate) silence_ms: u64,
}

impl Default for AgentSettings {
    fn default() -> Self {
        Self {
            model: None,
            base_url: None,
            key_file: None,
            context_tokens: 128_000,
            max_requests: 100,
            max_calls: 500,
            silence_ms: 180_000,
        }
    }
}

/// Settings of the policy.
#[derive(Default)]
pub(crate) struct PolicySettings {
    pub(crate) mode: Mode,
    pub(crate) ci_reads: bool,
    pub(crate) writable: Vec<String>,
    pub(crate) patience: ApprovalPatience,
}
