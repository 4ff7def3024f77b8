//! `mw acp`: the built-in agent.

use std::io::IsTerminal;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use std::{env, fs, io};

use clap::Args;
use meanwhile::model::context_stamp;
use meanwhile::model::policy::Mode;
use meanwhile::{Clock, SystemClock};
use mw_agents::agent::{AgentLimits, AgentOffer, ModelChoice, ModelWishes, Project, serve_agent};
use mw_agents::tools::{Background, Premises};

use super::mcp::LEAST_REPLY;
use super::policy::parse_mode;
use super::start::{current_umask, environment};
use crate::config::{Config, shown};
use crate::context::Context;
use crate::error::{CommandError, CommandResult};

#[derive(Args)]
pub(crate) struct Arguments {
    /// The model that answers: openai/NAME, anthropic/NAME or ollama/NAME
    #[arg(long, value_name = "PROVIDER/NAME")]
    model: Option<String>,
    /// How much is asked about at first: safe, auto, plan, ci or dangerous
    #[arg(long, value_parser = parse_mode)]
    mode: Option<Mode>,
}

impl Arguments {
    pub(crate) fn run(self, context: &Context) -> CommandResult {
        let agent = &context.config.agent;
        let wishes = ModelWishes {
            model: self.model.clone().or_else(|| agent.model.clone()),
            base_url: agent.base_url.clone(),
            key: agent.key_file.as_deref().map(key_in).transpose()?,
        };
        let model = ModelChoice::of(&wishes, |name| env::var(name).ok());
        if let Err(error) = &model {
            // A client shows the answer to its first request, a person at a terminal this.
            eprintln!("mw acp: {error}\n    {}", error.hint);
        }
        if io::stdin().is_terminal() {
            eprintln!(
                "mw acp: waiting for a client of the Agent Client Protocol on standard input\n    \
                 a client starts it, see docs/acp.md; Ctrl-C ends it"
            );
        }
        let umask = current_umask();
        let mode = self.mode;
        serve_agent(AgentOffer {
            settings: context.config.settings.clone(),
            model,
            limits: AgentLimits {
                context_tokens: agent.context_tokens,
                max_requests: agent.max_requests,
                max_calls: agent.max_calls,
                wait_ms: context.config.tools.wait_ms,
                silence: Duration::from_millis(agent.silence_ms),
            },
            session: context.session.clone(),
            tells: context.config.tools.tells(),
            project: Box::new(move |directory| {
                project(directory, mode, umask).map_err(|error| format!("{}. {}", error.message, error.hint))
            }),
        })?;
        Ok(0)
    }
}

/// Reads a key.
fn key_in(path: &str) -> Result<String, CommandError> {
    let key = fs::read_to_string(path).map_err(|error| {
        CommandError::usage(
            format!("the key file {} cannot be read: {error}", shown(path)),
            "agent.key_file names a file that holds the key and nothing else",
        )
    })?;
    match key.trim() {
        "" => Err(CommandError::usage(
            format!("the key file {} is empty", shown(path)),
            "write the key into it",
        )),
        key => Ok(key.to_owned()),
    }
}

/// Finds out what holds in a directory.
fn project(directory: &Path, mode: Option<Mode>, umask: u32) -> Result<Project, CommandError> {
    let config = Config::load_in(directory)?;
    let background = if config.tools.no_background { Background::Off } else { Background::On };
    let mut policy = config.decides_by()?;
    policy.mode = mode.unwrap_or(policy.mode);
    policy.stay_in_project_of(directory);
    let premises = Premises {
        session: String::new(),
        cwd: directory.to_owned(),
        env: environment(&[])?,
        umask,
        shell: config.shell.as_str().into(),
        limits: config.settings.limits.clone(),
        at_capacity: config.settings.queue.at_capacity,
        lifetime: config.lifetime(),
        context_stamp: context_stamp(SystemClock.now()),
        reply_bytes: config.tools.reply_bytes.max(LEAST_REPLY),
        stream_bytes: config.tools.stream_bytes,
        longest_call: Duration::from_millis(config.tools.longest_call_ms),
        background,
        policy,
        agents: Some(Arc::new(config.agent_settings()?)),
    };
    Ok(Project { settings: config.settings, premises })
}
