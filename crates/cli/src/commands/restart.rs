//! `mw restart`: a further run of the same spec.

use clap::Args;
use meanwhile::Started;

use super::start::StartReply;
use crate::context::Context;
use crate::error::CommandResult;

#[derive(Args)]
pub(crate) struct Arguments {
    /// The task
    id: String,
}

impl Arguments {
    pub(crate) fn run(self, context: &Context) -> CommandResult {
        let runtime = context.passing_runtime()?;
        context.pass_restart(&runtime, &self.id)?;
        let task = runtime.restart(&self.id, &context.scope())?;
        StartReply::show(&Started { task, existed: false }, context)
    }
}
