//! `mw resume`: sends a follow-up message to an agent that has answered.

use clap::Args;
use meanwhile::engine::Started;

use crate::context::Context;
use crate::error::{About, CommandResult};
use crate::render::start_reply::StartReply;

#[derive(Args)]
pub(crate) struct Arguments {
    /// The task
    id: String,
    /// The message to the agent
    message: String,
}

impl Arguments {
    pub(crate) fn run(self, context: &Context) -> CommandResult {
        let runtime = context.passing_runtime()?;
        context.pass_action(&runtime, "resume", &self.message)?;
        let task = runtime.starts().resume(&self.id, &context.scope(), &self.message).about(&self.id)?;
        StartReply::show(&Started { task, existed: false }, context)
    }
}
