//! `mw settle`: what a supervisor becomes when its task is over, and what it runs beside one that is not ready yet.

use std::path::PathBuf;

use clap::Args;
use meanwhile::model::TaskId;
use meanwhile::{Runtime, Urgency};

use crate::config;
use crate::context::Context;
use crate::error::{CommandError, CommandResult};
use crate::otel::{self, Receiver};

#[derive(Args)]
pub(crate) struct Arguments {
    /// The home the task belongs to
    #[arg(long)]
    home: PathBuf,
    /// The starter's limit per session
    #[arg(long)]
    max_running: Option<u32>,
    /// The starter's limit in all
    #[arg(long)]
    max_running_total: Option<u32>,
    /// The starter's limit on agents
    #[arg(long)]
    max_agents: Option<u32>,
    /// Look for what makes the task ready instead, and tell its supervisor
    #[arg(long, requires = "id")]
    ready: bool,
    /// The task; all of them unless given
    id: Option<String>,
}

impl Arguments {
    pub(crate) fn run(self, context: &Context) -> CommandResult {
        let usage = |error| CommandError::usage(format!("{error}"), "settle is called by supervisors");
        let id = self.id.map(|id| id.parse::<TaskId>().map_err(usage)).transpose()?;
        let mut settings = context.config.settings.clone();
        // Whatever is started here is settled in the same home, wherever that of the environment is.
        settings.programs = config::programs(&self.home)?;
        settings.programs.starter_exits = true;
        settings.home = self.home;
        settings.queue.max_running = self.max_running.unwrap_or(settings.queue.max_running);
        settings.queue.max_running_total = self.max_running_total.unwrap_or(settings.queue.max_running_total);
        settings.queue.max_agents = self.max_agents.unwrap_or(settings.queue.max_agents);
        let runtime = Runtime::open(settings)?;
        match id.as_ref().filter(|_| self.ready) {
            Some(id) => runtime.watch_readiness(id)?,
            None => {
                runtime.settle(id.as_ref())?;
                deliver_spans(&runtime, id.as_ref())?;
            }
        }
        Ok(0)
    }
}

/// The last act: nobody waits for it, however long a receiver takes. One that was not named to whoever started this
/// process may have been named to whoever started the task.
fn deliver_spans(runtime: &Runtime, id: Option<&TaskId>) -> Result<(), CommandError> {
    let of_task = || Receiver::among(&runtime.variables_of(id?, "OTEL_").ok()?);
    if let Some(receiver) = Receiver::own().or_else(of_task) {
        otel::deliver(runtime, &receiver, Urgency::WhenDue)?;
    }
    Ok(())
}
