//! `mw completions`: prints a completion script for a shell.

use clap::Args;
use clap_complete::Shell;

use crate::context::Context;
use crate::error::CommandResult;

#[derive(Args)]
pub(crate) struct Arguments {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

impl Arguments {
    pub(crate) fn run(self, _: &Context) -> CommandResult {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut crate::entry::whole_command(), "mw", &mut script);
        crate::render::out(&String::from_utf8_lossy(&script))?;
        Ok(0)
    }
}
