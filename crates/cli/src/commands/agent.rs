//! `mw agent`: runs another agent in the background, or lists the available agents.

use std::ffi::OsString;
use std::path::PathBuf;
use std::thread;

use clap::Args;
use meanwhile::Error;
use meanwhile::engine::model::{Lifetime, parse_duration_ms};
use meanwhile::engine::{Approval, TaskRequest};
use meanwhile::settings::AtCapacity;
use mw_agents::acp::{AcpError, Handshake, greet};
use mw_tools::delegation::{AgentCall, AgentEntry, AgentSettings, order};
use serde_json::json;

use crate::arguments::environment::{current_umask, environment};
use crate::config::at_capacity;
use crate::context::Context;
use crate::error::{CommandError, CommandResult};
use crate::render;
use crate::render::start_reply::StartReply;

#[derive(Args)]
pub(crate) struct Arguments {
    /// List the available agents and test each
    #[arg(long, conflicts_with = "prompt")]
    list: bool,
    /// The agent to use; see --list
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// A name, unique among the session's live tasks
    #[arg(long)]
    name: Option<String>,
    /// A description for people
    #[arg(long)]
    description: Option<String>,
    /// Working directory of the agent
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,
    /// Give the agent a separate git worktree
    #[arg(long)]
    worktree: bool,
    /// Add the task to this batch
    #[arg(long)]
    batch: Option<String>,
    /// The mode of the agent's session, by the agent's own name for it
    #[arg(long, value_name = "MODE")]
    agent_mode: Option<String>,
    /// Add a variable to the environment
    #[arg(long, value_name = "KEY=VALUE")]
    env: Vec<OsString>,
    /// Time limit of the run
    #[arg(long, value_name = "DURATION", value_parser = parse_duration_ms, allow_hyphen_values = true)]
    timeout: Option<u64>,
    /// Keep the task running when its session ends
    #[arg(long)]
    detached: bool,
    /// What to do when no slot is free: queue or reject
    #[arg(long, value_name = "WHAT", value_parser = at_capacity)]
    at_capacity: Option<AtCapacity>,
    /// Id of the message that led to the task
    #[arg(long, value_name = "ID")]
    parent_message: Option<String>,
    /// The prompt
    #[arg(required_unless_present = "list")]
    prompt: Option<String>,
}

impl Arguments {
    pub(crate) fn run(self, context: &Context) -> CommandResult {
        let settings = context.config.agent_settings()?;
        match self.prompt.clone() {
            Some(prompt) => self.ask(prompt, &settings, context),
            None => list(&settings, context),
        }
    }

    fn ask(self, prompt: String, settings: &AgentSettings, context: &Context) -> CommandResult {
        let config = &context.config;
        let chosen = match &self.agent {
            Some(name) => settings.registry.get(name),
            None => settings.registry.default_agent(),
        };
        let chosen = chosen.ok_or_else(|| {
            let (name, names) =
                (self.agent.as_deref().unwrap_or_default(), settings.registry.names().join(", "));
            let hint = format!("choose one of {names}; mw agent --list tests them, [agents.NAME] adds one");
            CommandError::from(Error::invalid(format!("no agent {name:?}"), hint))
        })?;
        // Our own agent without a model would start and fail; an added variable may name a model.
        if chosen.name == "mw" && !chosen.configured && self.env.is_empty() {
            config.model(None)?.map_err(|error| CommandError::usage(error.message, error.hint))?;
        }
        let mut limits = config.settings.limits.clone();
        limits.run_timeout_ms = self.timeout.or(limits.run_timeout_ms).filter(|ms| *ms > 0);
        let cwd = self.cwd.map_or_else(std::env::current_dir, std::path::absolute)?;
        let request = TaskRequest {
            description: self.description,
            name: self.name,
            umask: current_umask(),
            limits,
            lifetime: if self.detached { Lifetime::Detached } else { config.lifetime() },
            at_capacity: self.at_capacity.unwrap_or(config.settings.queue.at_capacity),
            batch: self.batch,
            parent_message: self.parent_message,
            approval: if context.gated_session().is_some() { Approval::Auto } else { Approval::User },
            ..TaskRequest::new(&context.owner(), settings.command(), cwd, environment(&self.env)?)
        };
        let (agent, worktree, mode) = (Some(chosen.name.clone()), self.worktree, self.agent_mode);
        let call = AgentCall { agent, prompt, worktree, mode };
        let runtime = context.passing_runtime()?;
        context.pass_action(&runtime, "agent", &call.prompt)?;
        let started = order(call, request, settings, &runtime)?;
        let shown = StartReply::show(&started, context.json);
        // The end of the process closes the database faster than we could.
        std::mem::forget(runtime);
        shown
    }
}

/// Greets every agent at the same time and says which answered.
fn list(settings: &AgentSettings, context: &Context) -> CommandResult {
    let cwd = std::env::current_dir()?;
    let entries: Vec<_> = settings.registry.entries().cloned().collect();
    let greeted: Vec<_> = thread::scope(|scope| {
        let each: Vec<_> = entries.iter().map(|entry| scope.spawn(|| greet(entry, &cwd))).collect();
        each.into_iter().map(|thread| thread.join().ok()).collect()
    });
    let default = settings.registry.default_agent().map(|entry| entry.name.clone());
    let all: Vec<_> = entries.iter().zip(greeted).collect();
    if context.json {
        let agents: Vec<_> = all
            .iter()
            .map(|(entry, greeted)| entry_json(entry, greeted.as_ref(), default.as_deref()))
            .collect();
        render::json(&json!({"agents": agents}))?;
        return Ok(0);
    }
    for (entry, greeted) in &all {
        let mark = if default.as_deref() == Some(&entry.name) { "*" } else { " " };
        let said = match greeted {
            Some(Ok(hello)) => in_words(hello),
            Some(Err(error)) => format!("does not work: {error}"),
            None => "does not work: the handshake failed".to_owned(),
        };
        render::out(&format!("{mark} {:<12} {said}\n    {}\n", entry.name, entry.command.join(" ")))?;
    }
    if all.is_empty() {
        return Err(CommandError::not_found("no agents found", "add one: [agents.NAME] command = \"…\""));
    }
    Ok(0)
}

fn in_words(hello: &Handshake) -> String {
    let mut words =
        vec![format!("works: {}", hello.info.as_deref().unwrap_or("no name or version reported"))];
    words.push(
        if hello.can_load { "can be resumed" } else { "can be resumed for a while after its answer" }
            .to_owned(),
    );
    if !hello.sign_in.is_empty() {
        words.push(format!("may need a login ({})", hello.sign_in.join(", ")));
    }
    words.join("; ")
}

fn entry_json(
    entry: &AgentEntry,
    greeted: Option<&Result<Handshake, AcpError>>,
    default: Option<&str>,
) -> serde_json::Value {
    let hello = greeted.and_then(|greeted| greeted.as_ref().ok());
    let error = match greeted {
        Some(Ok(_)) => None,
        Some(Err(error)) => Some(error.to_string()),
        None => Some("the handshake failed".to_owned()),
    };
    json!({
        "name": entry.name,
        "command": entry.command,
        "configured": entry.configured,
        "default": default == Some(&entry.name),
        "works": hello.is_some(),
        "info": hello.and_then(|hello| hello.info.clone()),
        "can_load": hello.map(|hello| hello.can_load),
        "sign_in": hello.map(|hello| hello.sign_in.clone()),
        "error": error,
    })
}
