//! The record of a task and the name of its output file.

use meanwhile::Task;
use mw_model::TaskKind;
use serde_json::{Value, json};

use super::OWN;
use crate::call::CallContext;
use crate::dialects::state;
use crate::screens::mycode::{error_text, exit_code, output_file};
use crate::text::{command, title};

/// Returns the record of a task with the fields of the dialect's source.
pub(super) fn record(task: &Task, cx: &CallContext<'_>) -> Value {
    let mut record = json!({
        "id": task.id,
        "type": if task.kind == TaskKind::Shell { "bash" } else { task.kind.word() },
        "description": title(task),
        "status": state(task, OWN),
        "started_at": task.started_at,
        "completed_at": task.ended_at,
        "output_file": output_file(task, cx.runtime),
        "exit_code": task.status.is_terminal().then(|| exit_code(task)),
        "error": error_text(task),
    });
    record["metadata"] = match &task.agent {
        Some(agent) => json!({"subagentType": agent.name, "prompt": command(task)}),
        None => json!({"command": command(task), "cwd": task.cwd, "pid": task.pid}),
    };
    record
}

/// Returns a line that names the full output, if some was left out.
pub(super) fn full_output(left_out: u64, task: &Task, cx: &CallContext<'_>) -> String {
    let file = if left_out > 0 { output_file(task, cx.runtime) } else { None };
    file.map(|file| format!("\n\nFull output: {file}")).unwrap_or_default()
}

/// Adds the output file to a reply, if there is one.
pub(super) fn name_file(data: &mut Value, file: Option<String>) {
    if let Some(file) = file {
        data["output_file"] = file.into();
    }
}
