//! `mw acp`: the built-in agent.

use std::io::IsTerminal;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use std::{env, fs, io};

use clap::Args;
use meanwhile::engine::HouseRules;
use meanwhile::policy::Mode;
use mw_agents::builtin::{
    AgentLimits, AgentOptions, ModelChoice, ModelError, ModelWishes, Project, serve_agent,
};
use mw_tools::Dialect;
use mw_tools::call::Premises;

use super::policy::parse_mode;
use super::tools::parse_dialect;
use crate::arguments::environment::current_umask;
use crate::config::premises::premises;
use crate::config::{Config, shown};
use crate::context::Context;
use crate::error::{CommandError, CommandResult};
use crate::{gate, render};

#[derive(Args)]
pub(crate) struct Arguments {
    /// The model to use: openai/NAME, anthropic/NAME or ollama/NAME
    #[arg(long, value_name = "PROVIDER/NAME")]
    model: Option<String>,
    /// The dialect of the tools; see mw tools --dialect
    #[arg(long, default_value = "canonical", value_parser = parse_dialect)]
    dialect: Dialect,
    /// Initial approval mode: safe, auto, plan, ci or dangerous
    #[arg(long, value_parser = parse_mode)]
    mode: Option<Mode>,
}

impl Arguments {
    pub(crate) fn run(self, context: &Context) -> CommandResult {
        let agent = &context.config.agent;
        let model = model(&context.config, self.model.clone())?;
        if let Err(error) = &model {
            // A client shows the answer to its first request, a person at a terminal this.
            render::aside(&format!("mw acp: {error}\n    {}", error.hint));
        }
        if io::stdin().is_terminal() {
            render::aside(
                "mw acp: waiting for an Agent Client Protocol client on standard input\n    \
                 clients start this command, see docs/acp.md; press Ctrl-C to quit",
            );
        }
        let umask = current_umask();
        let (mode, dialect) = (self.mode, self.dialect);
        let around = context.rules_around()?;
        let house = around.clone();
        serve_agent(AgentOptions {
            settings: context.config.settings.clone(),
            model,
            limits: AgentLimits {
                context_tokens: agent.context_tokens,
                max_requests: agent.max_requests,
                max_calls: agent.max_calls,
                wait_ms: context.config.tools.wait_ms,
                silence: Duration::from_millis(agent.silence_ms),
            },
            session: context.acts_for().map(str::to_owned),
            around,
            dialect,
            tells: context.config.tools.tells(),
            project: Box::new(move |directory| {
                project(directory, dialect, (mode, house.as_ref()), umask)
                    .map_err(|error| format!("{}. {}", error.message, error.hint))
            }),
        })?;
        Ok(0)
    }
}

/// Chooses the model that answers: the one that was asked for, else by the settings and the environment.
pub(super) fn model(
    config: &Config,
    wanted: Option<String>,
) -> Result<Result<ModelChoice, ModelError>, CommandError> {
    let agent = &config.agent;
    let wishes = ModelWishes {
        model: wanted.or_else(|| agent.model.clone()),
        base_url: agent.base_url.clone(),
        key: agent.key_file.as_deref().map(key_in).transpose()?,
    };
    Ok(ModelChoice::of(&wishes, |name| env::var(name).ok()))
}

/// Reads a key.
fn key_in(path: &str) -> Result<String, CommandError> {
    let key = fs::read_to_string(path).map_err(|error| {
        CommandError::usage(
            format!("cannot read the key file {}: {error}", shown(path)),
            "set agent.key_file to a file that contains only the key",
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
fn project(
    directory: &Path,
    dialect: Dialect,
    (mode, house): (Option<Mode>, Option<&HouseRules>),
    umask: u32,
) -> Result<Project, CommandError> {
    let config = Config::load_in(directory, dialect)?;
    let mut premises = premises(&config, directory.to_owned(), mode, umask)?;
    if let Some(house) = house {
        premises.policy = gate::bound(house, &premises.policy)?;
    }
    let premises = Premises { agents: Some(Arc::new(config.agent_settings()?)), ..premises };
    Ok(Project { settings: config.settings, premises })
}
