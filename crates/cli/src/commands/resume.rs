//! `mw resume`: continues a paused task, or sends a follow-up message to an agent that has answered.

use clap::Args;
use meanwhile::engine::Started;
use meanwhile::model::signal::SIGCONT;

use super::signal;
use crate::context::Context;
use crate::error::{About, CommandResult};
use crate::render::start_reply::StartReply;

#[derive(Args)]
pub(crate) struct Arguments {
    /// The task
    id: String,
    /// The message to the agent; without one, a paused task is continued
    message: Option<String>,
}

impl Arguments {
    pub(crate) fn run(self, context: &Context) -> CommandResult {
        let Some(message) = self.message else {
            return signal::send(context, &[self.id], SIGCONT);
        };
        let runtime = context.passing_runtime()?;
        context.pass_action(&runtime, "resume", &message)?;
        let task = runtime.starts().resume(&self.id, &context.scope(), &message).about(&self.id)?;
        StartReply::show(&Started { task, existed: false }, context.json)
    }
}
