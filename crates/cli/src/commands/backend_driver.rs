//! `mw backend-driver`: what a task on a back-end of the settings executes. It works for one run of the task in whose
//! directory it is started.

use clap::Args;

use crate::context::Context;
use crate::error::{CommandError, CommandResult};

#[derive(Args)]
pub(crate) struct Arguments {
    /// Number of the run
    run: u32,
}

impl Arguments {
    /// Runs without settings: warnings about them would be output of the task.
    pub(crate) fn drive(&self) -> u8 {
        mw_backends::run_driver(self.run)
    }

    pub(crate) fn run(self, _: &Context) -> CommandResult {
        Err(CommandError::usage(
            "backend-driver is called by supervisors",
            "write mw start --on NAME 'command'",
        ))
    }
}
