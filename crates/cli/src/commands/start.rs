//! `mw start`: runs a command in the background.

use clap::Args;

use crate::arguments::task::TaskArguments;
use crate::context::Context;
use crate::error::{CommandError, CommandResult};
use crate::render;
use crate::render::start_reply::StartReply;

#[derive(Args)]
pub(crate) struct Arguments {
    /// Print only the id
    #[arg(long, short, conflicts_with = "json")]
    quiet: bool,
    #[command(flatten)]
    task: TaskArguments,
}

impl Arguments {
    pub(crate) fn run(self, context: &Context) -> CommandResult {
        let runtime = context.passing_runtime()?;
        let started = self.task.start(context, &runtime, "start")?;
        let shown = if self.quiet && !started.task.never_ran() {
            render::out(&format!("{}\n", started.task.id)).map(|()| 0).map_err(CommandError::from)
        } else {
            StartReply::show(&started, context)
        };
        let shown = shown.map_err(|error| error.with_task(&started.task.id));
        // The end of the process closes the database faster than we could.
        std::mem::forget(runtime);
        shown
    }
}
