//! The options of the built-in agent.

use std::path::Path;
use std::time::Duration;

use meanwhile::Settings;
use meanwhile::engine::HouseRules;

use super::model::{ModelChoice, ModelError};
use crate::delivery::deliveries::Tells;
use mw_tools::call::Premises;
use mw_tools::dialects::Dialect;

/// The options of the built-in agent.
pub struct AgentOptions {
    /// The engine.
    pub settings: Settings,
    /// The model, or why there is none.
    pub model: Result<ModelChoice, ModelError>,
    /// How far it may go.
    pub limits: AgentLimits,
    /// Whose tasks those of its sessions are, where that is known beforehand.
    pub session: Option<String>,
    /// What is laid down for the session of the task that it runs in, if it does: no client chooses anything looser.
    pub around: Option<HouseRules>,
    /// Whose tools the model gets.
    pub dialect: Dialect,
    /// Who delivers the notifications of a session.
    pub tells: Tells,
    /// Loads the settings of a project's directory.
    pub project: ProjectLoader,
}

/// Finds out what holds in a project's directory.
pub type ProjectLoader = Box<dyn Fn(&Path) -> Result<Project, String> + Send + Sync>;

/// What holds in a project's directory.
pub struct Project {
    /// The engine, as the project has it.
    pub settings: Settings,
    /// What holds for calls. Session and directory are set for each session.
    pub premises: Premises,
}

/// How far the agent may go.
#[derive(Clone, Copy, Debug)]
pub struct AgentLimits {
    /// How much a model can keep in mind.
    pub context_tokens: u64,
    /// How often it is asked in one turn.
    pub max_requests: u64,
    /// How many tools it may call in one turn. What runs in the background counts once, as the call that started it.
    pub max_calls: u64,
    /// How long a call waits for the end of a task that is given no time.
    pub wait_ms: u64,
    /// How long it may be silent.
    pub silence: Duration,
}
