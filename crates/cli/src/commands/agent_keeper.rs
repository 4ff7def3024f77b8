//! `mw agent-keeper`: keeps an agent alive that cannot reload its session.

use clap::Args;
use meanwhile::model::TaskId;
use mw_agents::subagent::keep;

use crate::context::Context;
use crate::error::{CommandError, CommandResult};

#[derive(Args)]
pub(crate) struct Arguments {
    /// The agent's task
    id: String,
}

impl Arguments {
    pub(crate) fn run(self, context: &Context) -> CommandResult {
        let usage =
            |error| CommandError::usage(format!("{error}"), "agent-keeper is called by mw agent-driver");
        let id = self.id.parse::<TaskId>().map_err(usage)?;
        keep(context.config.settings.clone(), &id, &std::env::current_dir()?)?;
        Ok(0)
    }
}
