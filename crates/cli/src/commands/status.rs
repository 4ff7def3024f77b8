//! `mw status`: one task and its last lines.

use clap::Args;
use meanwhile::Task;
use meanwhile::engine::{From, ReadRequest, Runtime, clean_text};
use meanwhile::model::TaskKind;

use crate::arguments::numbers::parse_number;
use crate::context::Context;
use crate::error::{About, CommandResult};
use crate::render;

/// How many lines are shown unless asked otherwise.
pub(crate) const LINES: u64 = 20;
/// Most bytes of output a status shows.
const MOST_BYTES: u64 = 8192;
/// Most bytes that are read for it: much of a log may be what is not shown.
const MOST_READ: u64 = 8 * MOST_BYTES;

#[derive(Args)]
pub(crate) struct Arguments {
    /// The task
    id: String,
    /// Number of last lines to show
    #[arg(long, value_name = "N", default_value_t = LINES, value_parser = parse_number::<u64>, allow_hyphen_values = true)]
    lines: u64,
    /// Do not redact secrets
    #[arg(long)]
    raw: bool,
}

impl Arguments {
    pub(crate) fn run(self, context: &Context) -> CommandResult {
        let runtime = if self.raw { context.open_runtime()? } else { context.runtime()? };
        let mut task = runtime.tasks().task(&self.id, &context.scope()).about(&self.id)?;
        runtime.live().add_ports(&mut task);
        show(context, &runtime, &task, self.lines)
    }
}

/// Prints a task and its last lines.
pub(crate) fn show(context: &Context, runtime: &Runtime, task: &Task, lines: u64) -> CommandResult {
    let output = if lines == 0 {
        String::new()
    } else {
        let request =
            ReadRequest { from: From::TailLines(lines), max_bytes: MOST_READ, ..ReadRequest::default() };
        // A log that is gone is no reason to hide the rest.
        let text = runtime.reader().read_shown(task.id.as_str(), &context.scope(), &request);
        last_bytes(&text.map(|reply| clean_text(&reply.text())).unwrap_or_default())
    };
    if context.json {
        let mut value = serde_json::to_value(task).map_err(std::io::Error::from)?;
        value["output"] = output.into();
        render::out(&format!("{value}\n"))?;
    } else {
        let answer = (lines > 0 && task.status.is_terminal()).then(|| answer(runtime, task)).flatten();
        render::out(&render::status(task, answer.as_deref().unwrap_or(&output), context.colour()))?;
    }
    Ok(0)
}

/// Returns what an agent answered, or why it did not: more to the point than the end of its log.
fn answer(runtime: &Runtime, task: &Task) -> Option<String> {
    let agent = task.kind == TaskKind::Agent;
    agent
        .then(|| runtime.agents().agent_result(&task.id, task.state.run()))
        .flatten()
        .map(|text| clean_text(&text))
}

fn last_bytes(text: &str) -> String {
    let from = text.ceil_char_boundary(text.len().saturating_sub(MOST_BYTES as usize));
    text[from..].to_owned()
}
