//! `mw status`: shows one task and its last lines of output.

use clap::Args;

use crate::arguments::values::parse_number;
use crate::context::{Context, Latest};
use crate::error::{About, CommandResult};
use crate::render::status_page::{LINES, show};

#[derive(Args)]
pub(crate) struct Arguments {
    /// The task [default: the latest of this directory]
    id: Option<String>,
    /// Number of last lines to show
    #[arg(long, short = 'n', value_name = "N", default_value_t = LINES, value_parser = parse_number::<u64>, allow_hyphen_values = true)]
    lines: u64,
    /// Do not redact secrets
    #[arg(long)]
    raw: bool,
}

impl Arguments {
    pub(crate) fn run(self, context: &Context) -> CommandResult {
        let runtime = if self.raw { context.open_runtime()? } else { context.runtime()? };
        let id = context.given_or_latest(&runtime, self.id, Latest::Any)?;
        let mut task = runtime.tasks().task(&id, &context.scope()).about(&id)?;
        runtime.live().add_ports(&mut task);
        show(context, &runtime, &task, self.lines)
    }
}
