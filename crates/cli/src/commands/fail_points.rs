//! `mw fail-points`: lists the steps at which a debug build can be made to crash.

use clap::Args;

use crate::context::Context;
use crate::error::CommandResult;

#[derive(Args)]
pub(crate) struct Arguments {}

impl Arguments {
    pub(crate) fn run(self, _: &Context) -> CommandResult {
        let all = meanwhile::engine::FAIL_POINTS.iter().chain(&mw_supervisor::FAIL_POINTS);
        crate::render::out(&all.map(|name| format!("{name}\n")).collect::<String>())?;
        Ok(0)
    }
}
