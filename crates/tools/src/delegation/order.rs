//! Turns a request for a subagent into a task.

use std::path::{Path, PathBuf};

use meanwhile::Error;
use meanwhile::engine::{Runtime, Started, TaskRequest};
use mw_model::{
    AGENT_WAITS, AgentSpec, CommandSpec, DEPTH_VARIABLE, EnvVar, Limits, PromptPatterns, RawText, TaskKind,
    Worktree,
};

use super::registry::{AgentEntry, Registry};
use super::worktree;

/// The time after which an agent counts as waiting, once it has printed the line that says so.
const WAITING_MS: u64 = 1000;
/// The additional time that the driver needs to end all processes.
const AFTER_CANCEL_MS: u64 = 3000;

/// The settings for all subagents.
#[derive(Clone, Debug)]
pub struct AgentSettings {
    /// The available agents.
    pub registry: Registry,
    /// The maximum nesting of agents.
    pub max_depth: u32,
    /// The nesting of the caller.
    pub depth: u32,
    /// How long an agent may take to handle `session/cancel`.
    pub cancel_ms: u64,
    /// How long an agent may be silent before it counts as stalled. 0 means forever.
    pub silence_ms: u64,
    /// How long an agent that cannot reload its session is kept running for a follow-up.
    pub linger_ms: u64,
    /// The command of the driver: `mw agent-driver`.
    pub driver: Vec<RawText>,
}

impl AgentSettings {
    /// Returns the command of a task that runs an agent.
    #[must_use]
    pub fn command(&self) -> CommandSpec {
        CommandSpec::Argv(self.driver.clone())
    }
}

/// A request to a subagent.
#[derive(Clone, Debug)]
pub struct AgentCall {
    /// The name of the agent. If absent, the default agent is used.
    pub agent: Option<String>,
    /// The prompt.
    pub prompt: String,
    /// Whether the agent gets a separate worktree.
    pub worktree: bool,
    /// The mode of the agent's session. If absent, the mode of its entry is used.
    pub mode: Option<String>,
}

/// Starts a subagent as a task and returns at once. The task is registered before its agent is started. The request
/// must contain [`AgentSettings::command`]; this function adds the settings that only agents have.
///
/// # Errors
/// Fails if there is no such agent, the prompt is empty, agents are nested too deeply, no worktree can be created, or
/// the task cannot be started.
pub fn order(
    call: AgentCall,
    request: TaskRequest,
    settings: &AgentSettings,
    runtime: &Runtime,
) -> Result<Started, Error> {
    let entry = checked(&call, settings)?;
    let made = if call.worktree { Some(new_worktree(&request.cwd)?) } else { None };
    let (worktree, cwd) = match made {
        Some((worktree, inside)) => (Some(worktree), inside),
        None => (None, request.cwd),
    };
    let agent = AgentSpec {
        name: entry.name.clone(),
        prompt: call.prompt,
        command: entry.command.clone(),
        mode: call.mode.or_else(|| entry.mode.clone()),
        depth: settings.depth + 1,
        cancel_ms: settings.cancel_ms,
        silence_ms: settings.silence_ms,
        linger_ms: settings.linger_ms,
        worktree: worktree.clone(),
    };
    let mut env = request.env;
    let depth = (DEPTH_VARIABLE.to_owned(), agent.depth.to_string());
    entry.env.iter().chain([&depth]).for_each(|(name, value)| EnvVar::set(&mut env, name, value));
    let least_grace = settings.cancel_ms + AFTER_CANCEL_MS;
    let limits = Limits {
        // Only the driver knows whether its agent waits for a person.
        stall_ms: WAITING_MS,
        prompts: PromptPatterns(vec![format!("{AGENT_WAITS}*")]),
        kill_grace_ms: request.limits.kill_grace_ms.max(least_grace),
        timeout_grace_ms: request.limits.timeout_grace_ms.max(least_grace),
        ..request.limits
    };
    let request = TaskRequest {
        kind: TaskKind::Agent,
        cwd,
        env,
        limits,
        parent_session: Some(request.session.clone()),
        agent: Some(Box::new(agent)),
        ..request
    };
    let started = runtime.starts().start(&request);
    if let (Err(_), Some(worktree)) = (&started, &worktree) {
        worktree::discard(worktree);
    }
    started
}

/// Returns the entry of the requested agent. Refuses a call that cannot be carried out.
fn checked<'a>(call: &AgentCall, settings: &'a AgentSettings) -> Result<&'a AgentEntry, Error> {
    let registry = &settings.registry;
    let entry = match &call.agent {
        Some(name) => registry.get(name),
        None => registry.default_agent(),
    };
    let entry = entry.ok_or_else(|| {
        let name = call.agent.as_deref().unwrap_or_default();
        Error::invalid(format!("no agent {name:?}"), format!("choose one of {}", registry.names().join(", ")))
    })?;
    if call.prompt.trim().is_empty() {
        return Err(Error::invalid("the prompt is empty", "describe the work"));
    }
    if settings.depth >= settings.max_depth {
        let (depth, most) = (settings.depth, settings.max_depth);
        return Err(Error::invalid(
            format!("agents are already nested {depth} deep, and subagent.max_depth is {most}"),
            "do the work without an agent, or raise subagent.max_depth",
        ));
    }
    Ok(entry)
}

fn new_worktree(cwd: &Path) -> Result<(Worktree, PathBuf), Error> {
    worktree::make(cwd).map_err(|why| {
        Error::invalid(
            format!("cannot create a worktree: {why}"),
            "run it inside a git repository with a commit, or without a worktree",
        )
    })
}
