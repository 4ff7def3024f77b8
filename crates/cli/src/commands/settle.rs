//! `mw settle`: what a supervisor becomes when its task is over, and what it runs beside one that is not ready yet.

use std::path::PathBuf;

use clap::Args;
use meanwhile::QueueSettings;
use meanwhile::engine::{Runtime, Urgency};
use meanwhile::model::TaskId;

use crate::context::Context;
use crate::error::{CommandError, CommandResult};
use crate::otel::{self, Receiver};
use crate::programs;

#[derive(Args)]
pub(crate) struct Arguments {
    /// The home of the task
    #[arg(long)]
    home: PathBuf,
    /// For tasks that do not have their own limits yet: supervisors of earlier builds give it
    #[arg(long, hide = true)]
    max_running: Option<u32>,
    /// For tasks that do not have their own limits yet: supervisors of earlier builds give it
    #[arg(long, hide = true)]
    max_running_total: Option<u32>,
    /// For tasks that do not have their own limits yet: supervisors of earlier builds give it
    #[arg(long, hide = true)]
    max_agents: Option<u32>,
    /// Check whether the task is ready instead, and tell its supervisor
    #[arg(long, requires = "id")]
    ready: bool,
    /// The task [default: all tasks]
    id: Option<String>,
}

impl Arguments {
    pub(crate) fn run(self, context: &Context) -> CommandResult {
        let id = self.task()?;
        let runtime = self.runtime(context)?;
        match id.as_ref().filter(|_| self.ready) {
            Some(id) => runtime.live().watch_readiness(id)?,
            None => {
                runtime.runner().settle(id.as_ref())?;
                hand_spans_over(&runtime, id.as_ref())?;
            }
        }
        Ok(0)
    }

    /// The last act, in the executable that can speak to receivers.
    pub(crate) fn deliver_spans(self, context: &Context) -> CommandResult {
        let id = self.task()?;
        let runtime = self.runtime(context)?;
        if let Some(receiver) = receiver(&runtime, id.as_ref()) {
            otel::deliver(&runtime, &receiver, Urgency::WhenDue)?;
        }
        Ok(0)
    }

    fn task(&self) -> Result<Option<TaskId>, CommandError> {
        let usage = |error| CommandError::usage(format!("{error}"), "settle is called by supervisors");
        self.id.as_ref().map(|id| id.parse::<TaskId>().map_err(usage)).transpose()
    }

    fn runtime(&self, context: &Context) -> Result<Runtime, CommandError> {
        let mut settings = context.config.settings.clone();
        // Whatever is started here is settled in the same home, wherever that of the environment is.
        settings.programs = programs::of_home(&self.home)?;
        settings.programs.starter_exits = true;
        settings.home.clone_from(&self.home);
        let QueueSettings { max_running, max_running_total, max_agents, .. } = &mut settings.queue;
        *max_running = self.max_running.unwrap_or(*max_running);
        *max_running_total = self.max_running_total.unwrap_or(*max_running_total);
        *max_agents = self.max_agents.unwrap_or(*max_agents);
        Ok(Runtime::open(settings)?)
    }
}

/// Has spans delivered, if any are due. Nobody waits for it, however long a receiver takes.
fn hand_spans_over(runtime: &Runtime, id: Option<&TaskId>) -> Result<(), CommandError> {
    let Some(receiver) = receiver(runtime, id) else { return Ok(()) };
    let endpoint = receiver.endpoint();
    if runtime.traces().owes_delivery(&endpoint)? {
        let obstacle = programs::become_surfaces();
        // They go on waiting; whoever asks is told why.
        runtime.traces().deliver_spans(&endpoint, Urgency::WhenDue, |_| Err(obstacle.message.clone()))?;
    }
    Ok(())
}

/// Returns who takes spans: one that was not named to whoever started this process may have been named to whoever
/// started the task.
fn receiver(runtime: &Runtime, id: Option<&TaskId>) -> Option<Receiver> {
    let of_task = || Receiver::among(&runtime.traces().variables_of(id?, "OTEL_").ok()?);
    Receiver::own().or_else(of_task)
}
