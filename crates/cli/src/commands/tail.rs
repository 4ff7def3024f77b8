//! `mw tail`: follows the end of a task's output.

use clap::Args;

use super::output;
use crate::context::Context;
use crate::error::CommandResult;

#[derive(Args)]
#[group(skip)]
pub(crate) struct Arguments {
    #[command(flatten)]
    output: output::Arguments,
}

impl Arguments {
    pub(crate) fn run(self, context: &Context) -> CommandResult {
        self.output.following().run(context)
    }
}
