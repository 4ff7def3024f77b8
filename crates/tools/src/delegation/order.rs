//! Turns a request for a subagent into a task.

use std::path::{Path, PathBuf};

use meanwhile::engine::{Approval, Runtime, Started, TaskRequest, Teller};
use meanwhile::{AtCapacity, Error};
use mw_model::{
    AgentSpec, CommandSpec, DEPTH_VARIABLE, Dialect, EnvVar, Lifetime, Limits, PromptPatterns, RawText,
    TaskKind, Worktree,
};

use super::registry::Registry;
use super::worktree;
use mw_model::AGENT_WAITS;

/// How soon an agent counts as waiting after it has printed the line that says so.
const WAITING_MS: u64 = 1000;
/// The additional time that the driver needs to end everything.
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
    /// How long an agent may take over `session/cancel`.
    pub cancel_ms: u64,
    /// How long it may be silent before it counts as stalled; 0 = forever.
    pub silence_ms: u64,
    /// How long one that cannot reload its session is kept alive for a follow-up.
    pub linger_ms: u64,
    /// What drives an agent: `mw agent-driver`.
    pub driver: Vec<RawText>,
}

/// A request for a subagent.
#[derive(Clone, Debug)]
pub struct AgentCall {
    /// The agent; the default one if absent.
    pub agent: Option<String>,
    /// The prompt.
    pub prompt: String,
    /// A description for people.
    pub description: Option<String>,
    /// A name unique among the session's live tasks.
    pub name: Option<String>,
    /// The dialect it is asked for in.
    pub dialect: Dialect,
    /// The context in which it is counted, if not its session.
    pub context: Option<String>,
    /// The session that owns the task.
    pub session: String,
    /// Its working directory.
    pub cwd: PathBuf,
    /// The environment it gets.
    pub env: Vec<EnvVar>,
    /// Its file mode creation mask.
    pub umask: u32,
    /// Limits of the task.
    pub limits: Limits,
    /// Whether it ends with its session.
    pub lifetime: Lifetime,
    /// What to do when no slot is free.
    pub at_capacity: AtCapacity,
    /// The batch it belongs to.
    pub batch: Option<String>,
    /// Whether it gets a separate worktree.
    pub worktree: bool,
    /// The mode of its session; its entry's own unless said.
    pub mode: Option<String>,
    /// The message that led to it.
    pub parent_message: Option<String>,
    /// The server that starts it.
    pub starter: Option<Teller>,
    /// The approval.
    pub approval: Approval,
}

/// Starts a subagent as a task and returns at once. The task is registered before its agent is started.
///
/// # Errors
/// When there is no such agent, the prompt is empty, too many agents are above each other, no worktree can be made, or
/// the task cannot be started.
pub fn order(call: AgentCall, settings: &AgentSettings, runtime: &Runtime) -> Result<Started, Error> {
    let invalid = |message: String, hint: String| Err(Error::invalid(message, hint));
    let registry = &settings.registry;
    let names = registry.names().join(", ");
    let entry = match &call.agent {
        Some(name) => registry.get(name),
        None => registry.default_agent(),
    };
    let Some(entry) = entry else {
        let name = call.agent.unwrap_or_default();
        return invalid(
            format!("no agent {name:?}"),
            format!("choose one of {names}; mw agent --list tests them, [agents.NAME] adds one"),
        );
    };
    if call.prompt.trim().is_empty() {
        return invalid("the prompt is empty".to_owned(), "describe the work".to_owned());
    }
    if settings.depth >= settings.max_depth {
        return invalid(
            format!(
                "agents are already nested {} deep, and subagent.max_depth is {}",
                settings.depth, settings.max_depth
            ),
            "do this yourself, or raise subagent.max_depth".to_owned(),
        );
    }
    let made = if call.worktree { Some(new_worktree(&call.cwd)?) } else { None };
    let (worktree, cwd) = match made {
        Some((worktree, inside)) => (Some(worktree), inside),
        None => (None, call.cwd),
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
    let mut env = call.env;
    let depth = (DEPTH_VARIABLE.to_owned(), agent.depth.to_string());
    for (name, value) in entry.env.iter().cloned().chain([depth]) {
        env.retain(|var| var.name.as_bytes() != name.as_bytes());
        env.push(EnvVar { name: name.into(), value: value.into() });
    }
    let least_grace = settings.cancel_ms + AFTER_CANCEL_MS;
    let limits = Limits {
        // Only the driver knows when its agent waits for a person.
        stall_ms: WAITING_MS,
        prompts: PromptPatterns(vec![format!("{AGENT_WAITS}*")]),
        kill_grace_ms: call.limits.kill_grace_ms.max(least_grace),
        timeout_grace_ms: call.limits.timeout_grace_ms.max(least_grace),
        ..call.limits
    };
    let command = CommandSpec::Argv(settings.driver.clone());
    let request = TaskRequest {
        kind: TaskKind::Agent,
        dialect: call.dialect,
        context: call.context,
        name: call.name,
        description: call.description,
        umask: call.umask,
        limits,
        lifetime: call.lifetime,
        at_capacity: call.at_capacity,
        batch: call.batch,
        parent_session: Some(call.session.clone()),
        parent_message: call.parent_message,
        starter: call.starter,
        approval: call.approval,
        agent: Some(Box::new(agent)),
        ..TaskRequest::new(&call.session, command, cwd, env)
    };
    let started = runtime.starts().start(&request);
    if let (Err(_), Some(worktree)) = (&started, &worktree) {
        worktree::discard(worktree);
    }
    started
}

fn new_worktree(cwd: &Path) -> Result<(Worktree, PathBuf), Error> {
    worktree::make(cwd).map_err(|why| {
        Error::invalid(
            format!("cannot create a worktree: {why}"),
            "run it inside a git repository with a commit, or without --worktree",
        )
    })
}
