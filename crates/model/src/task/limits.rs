//! All limits of a task: time, size of the log, silence, and, in `resource_limits`, the resources of its processes.
//! They are resolved from settings and options before the task is stored.

use serde::{Deserialize, Serialize};

use super::resource_limits::Resources;
use crate::text::prompt::PromptPatterns;
use crate::time::Timestamp;

/// The limits that a supervisor enforces.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Maximum duration of a run, from its spawn, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_timeout_ms: Option<u64>,
    /// When the task is ended at the latest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Timestamp>,
    /// Time between the requested signal and SIGKILL.
    pub kill_grace_ms: u64,
    /// Time between SIGTERM and SIGKILL after a time limit.
    pub timeout_grace_ms: u64,
    /// Maximum size of the log in bytes; 0 = no limit.
    pub output_cap: u64,
    /// Silence after which a last line that looks like a prompt counts as a stall; 0 = off.
    pub stall_ms: u64,
    /// The patterns of prompts.
    pub prompts: PromptPatterns,
    /// Limits on the resources of its processes.
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
