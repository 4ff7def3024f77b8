//! `mw acp`: runs the built-in agent.

use std::io;
use std::io::IsTerminal;
use std::path::Path;
use std::time::Duration;

use clap::Args;
use meanwhile::Meanwhile;
use meanwhile::engine::SessionPolicy;
use meanwhile::policy::Mode;
use mw_agents::builtin::{AgentLimits, AgentOptions, Project, serve_agent};
use mw_desk::text::with_hint;
use mw_tools::Dialect;

use crate::arguments::environment::current_umask;
use crate::arguments::values::{parse_dialect, parse_mode};
use crate::config::Config;
use crate::config::call_settings::call_settings;
use crate::context::Context;
use crate::error::{CommandError, CommandResult};
use crate::render;

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
        let model = context.config.model(self.model.clone())?;
        if let Err(error) = &model {
            // For a person at a terminal. A client shows the answer to its first request.
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
        let around = context.enclosing_policy()?;
        let session_policy = around.clone();
        serve_agent(AgentOptions {
            home: Meanwhile::open_lazy(context.config.settings.clone()),
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
                project(directory, dialect, (mode, session_policy.as_ref()), umask)
                    .map_err(|error| with_hint(&error.message, &error.hint))
            }),
        })?;
        Ok(0)
    }
}

/// Returns the settings that apply in a directory.
fn project(
    directory: &Path,
    dialect: Dialect,
    (mode, session_policy): (Option<Mode>, Option<&SessionPolicy>),
    umask: u32,
) -> Result<Project, CommandError> {
    let config = Config::load_in(directory, dialect)?;
    let call_settings = call_settings(&config, directory.to_owned(), mode, umask, session_policy)?;
    Ok(Project { home: Meanwhile::open_lazy(config.settings), call_settings })
}
