//! One task and its last lines of output.

use meanwhile::Task;
use meanwhile::engine::{ReadFrom, ReadRequest, Runtime, clean_text};
use meanwhile::model::TaskKind;

use crate::context::Context;
use crate::error::CommandResult;
use crate::render;

/// The default number of lines.
pub(crate) const LINES: u64 = 20;
/// Maximum size of the output shown.
const MAX_BYTES: u64 = 8192;
/// Maximum size of the output read: control sequences in it are not shown.
const MAX_READ: u64 = 8 * MAX_BYTES;

/// Prints a task and its last lines.
pub(crate) fn show(context: &Context, runtime: &Runtime, task: &Task, lines: u64) -> CommandResult {
    let mut task = task.clone();
    if task.status.is_terminal() {
        task.outcome = runtime.notifications().outcome(&task);
    }
    let task = &task;
    let output = if lines == 0 {
        String::new()
    } else {
        let request =
            ReadRequest { from: ReadFrom::TailLines(lines), max_bytes: MAX_READ, ..ReadRequest::default() };
        // The rest is shown even if the log is gone.
        let text = runtime.reader().read_shown(task.id.as_str(), &context.scope(), &request);
        last_bytes(&text.map(|reply| clean_text(&reply.text())).unwrap_or_default())
    };
    let mut value = serde_json::to_value(task).map_err(std::io::Error::from)?;
    value["output"] = output.as_str().into();
    context.show(&value, || {
        let answer = (lines > 0 && task.status.is_terminal()).then(|| answer(runtime, task)).flatten();
        render::status(task, answer.as_deref().unwrap_or(&output), context.colour())
    })
}

/// Returns the answer of an agent, or why there is none. It says more than the end of the log.
fn answer(runtime: &Runtime, task: &Task) -> Option<String> {
    let agent = task.kind == TaskKind::Agent;
    agent
        .then(|| runtime.agents().agent_result(&task.id, task.state.run()))
        .flatten()
        .map(|text| clean_text(&text))
}

fn last_bytes(text: &str) -> String {
    let from = text.ceil_char_boundary(text.len().saturating_sub(MAX_BYTES as usize));
    text[from..].to_owned()
}
