//! `mw started`: reports a start whose supervisor was killed before it answered. `mw` becomes this command then.

use clap::Args;
use meanwhile::engine::model::TaskId;

use crate::context::Context;
use crate::error::{CommandError, CommandResult};
use crate::render::start_reply::StartReply;

#[derive(Args)]
pub(crate) struct Arguments {
    /// The task
    id: String,
}

impl Arguments {
    pub(crate) fn run(self, context: &Context) -> CommandResult {
        let usage = |error| CommandError::usage(format!("{error}"), "started is called by mw start");
        let id = self.id.parse::<TaskId>().map_err(usage)?;
        let started = context.runtime()?.starts().conclude_unanswered(&id)?;
        StartReply::show(&started, context.json)
    }
}
