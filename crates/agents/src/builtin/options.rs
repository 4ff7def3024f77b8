//! The options of the built-in agent.

use std::path::Path;
use std::time::Duration;

use meanwhile::Meanwhile;
use meanwhile::engine::SessionPolicy;

use super::model::{ModelChoice, ModelError};
use crate::delivery::deliveries::DeliveredWith;
use mw_tools::call::CallSettings;
use mw_tools::dialects::Dialect;

/// The options of the built-in agent.
pub struct AgentOptions {
    /// The home.
    pub home: Meanwhile,
    /// The model, or the reason why there is none.
    pub model: Result<ModelChoice, ModelError>,
    /// The limits of a turn.
    pub limits: AgentLimits,
    /// The session that owns the agent's tasks, if it is known beforehand.
    pub session: Option<String>,
    /// The approval rules of the task that the agent runs in, if any. No client can choose a less strict mode.
    pub around: Option<SessionPolicy>,
    /// The dialect of the model's tools.
    pub dialect: Dialect,
    /// The process that delivers the notifications of a session.
    pub tells: DeliveredWith,
    /// Loads the settings of a project's directory.
    pub project: ProjectLoader,
}

/// A function that loads the settings of a project's directory.
pub type ProjectLoader = Box<dyn Fn(&Path) -> Result<Project, String> + Send + Sync>;

/// The settings of a project's directory.
pub struct Project {
    /// The home, with the settings of the directory.
    pub home: Meanwhile,
    /// The settings of calls. Session and directory are set separately for each session.
    pub call_settings: CallSettings,
}

/// The limits of the agent.
#[derive(Clone, Copy, Debug)]
pub struct AgentLimits {
    /// The size of the model's context window.
    pub context_tokens: u64,
    /// The maximum number of model requests in one turn.
    pub max_requests: u64,
    /// The maximum number of tool calls in one turn. A background task counts once, as the call that started it.
    pub max_calls: u64,
    /// The default time limit of calls that wait for a task.
    pub wait_ms: u64,
    /// How long the model may be silent.
    pub silence: Duration,
}
