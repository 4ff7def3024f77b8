//! All limits of one task: time, size of the log, silence, and, in `resource_limits`, what its processes may use.
//! They are resolved from settings and options before the task is stored.

use serde::{Deserialize, Serialize};

use super::resource_limits::Resources;
use crate::text::prompt::PromptPatterns;
use crate::time::Timestamp;

/// The limits that a supervisor enforces.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Longest run, counted from the spawn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_timeout_ms: Option<u64>,
    /// Moment at which the task ends whatever it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Timestamp>,
    /// Time between the asked-for signal and SIGKILL.
    pub kill_grace_ms: u64,
    /// The same after a time limit.
    pub timeout_grace_ms: u64,
    /// Most bytes the log may hold; 0 = no cap.
    pub output_cap: u64,
    /// Silence after which a prompt-like tail counts as a stall; 0 = off.
    pub stall_ms: u64,
    /// What a prompt looks like.
    pub prompts: PromptPatterns,
    /// What the tree may use.
    #[serde(default, skip_serializing_if = "Resources::is_none")]
    pub resources: Resources,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            run_timeout_ms: None,
            deadline: None,
            kill_grace_ms: 5000,
            timeout_grace_ms: 3000,
            output_cap: 10 << 20,
            stall_ms: 45_000,
            prompts: PromptPatterns::default(),
            resources: Resources::default(),
        }
    }
}
