//! `mw status`: shows one task and its last lines of output.

use clap::Args;
use mw_tools::task_calls::TaskCall;
use serde_json::json;

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
    /// Returns the same as a call of a tool; `None` if an option has no counterpart there.
    pub(crate) fn as_call(&self) -> Option<TaskCall> {
        let Self { id: Some(id), lines, raw: false } = self else { return None };
        Some(TaskCall::new("task_output", json!({"task_id": id, "lines": lines})))
    }

    pub(crate) fn run(self, context: &Context) -> CommandResult {
        let runtime = if self.raw { context.open_runtime()? } else { context.runtime()? };
        let id = context.given_or_latest(&runtime, self.id, Latest::Any)?;
        let mut task = runtime.tasks().task(&id, &context.scope()).about(&id)?;
        runtime.live().add_ports(&mut task);
        show(context, &runtime, &task, self.lines)
    }
}
