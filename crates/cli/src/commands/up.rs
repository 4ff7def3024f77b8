//! `mw up`: starts the services of a project.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use meanwhile::engine::model::parse_duration_ms;

use crate::context::Context;
use crate::error::CommandResult;
use crate::services::{BringUp, Project};

#[derive(Args)]
pub(crate) struct Arguments {
    /// The services, with all that they depend on [default: all]
    #[arg(value_name = "NAME")]
    services: Vec<String>,
    /// The file that declares them [default: meanwhile.toml or Procfile, here or above in the project]
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// End and start services that run with another command, directory, environment, restart or readiness than declared
    #[arg(long)]
    recreate: bool,
    /// Maximum time to wait until the services are ready
    #[arg(long, short, value_name = "DURATION", value_parser = parse_duration_ms, default_value = "1m", allow_hyphen_values = true)]
    timeout: u64,
}

impl Arguments {
    pub(crate) fn run(self, context: &Context) -> CommandResult {
        let project = Project::find(self.file.as_deref())?;
        let runtime = context.runtime()?;
        let how = (self.recreate, Duration::from_millis(self.timeout));
        let mut services = BringUp::new(context, &runtime, (&project, &self.services), how)?;
        services.run()?;
        services.conclude()
    }
}
