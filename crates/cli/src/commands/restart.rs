//! `mw restart`: runs a task again.

use clap::Args;
use meanwhile::engine::Started;

use crate::context::Context;
use crate::error::{About, CommandResult};
use crate::render::start_reply::StartReply;

#[derive(Args)]
pub(crate) struct Arguments {
    /// The task
    id: String,
}

impl Arguments {
    pub(crate) fn run(self, context: &Context) -> CommandResult {
        let runtime = context.passing_runtime()?;
        context.pass_restart(&runtime, &self.id)?;
        let task = runtime.starts().restart(&self.id, &context.scope()).about(&self.id)?;
        StartReply::show(&Started { task, existed: false }, context.json)
    }
}
