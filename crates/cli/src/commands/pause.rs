//! `mw pause`: stops all processes of a task until `mw resume`.

use clap::Args;
use meanwhile::model::signal::SIGSTOP;

use super::signal;
use crate::context::Context;
use crate::error::CommandResult;

#[derive(Args)]
pub(crate) struct Arguments {
    /// The tasks
    #[arg(required = true)]
    ids: Vec<String>,
}

impl Arguments {
    pub(crate) fn run(self, context: &Context) -> CommandResult {
        signal::send(context, &self.ids, SIGSTOP)
    }
}
