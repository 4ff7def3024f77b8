//! `mw restart`: a further run of the same spec.

use clap::Args;
use meanwhile::engine::Started;

use super::start::StartReply;
use crate::context::Context;
use crate::error::{About, CommandResult};

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
        StartReply::show(&Started { task, existed: false }, context)
    }
}
