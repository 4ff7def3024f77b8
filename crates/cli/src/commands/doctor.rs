//! `mw doctor`.
use crate::context::Context;
use crate::error::CommandResult;
use clap::Args;
#[derive(Args)]
pub(crate) struct Arguments {}
impl Arguments {
    pub(crate) fn run(self, _: &Context) -> CommandResult {
        Ok(0)
    }
}
