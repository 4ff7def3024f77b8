//! The background-task specification: `background_output`, `background_block`, `background_cancel`,
//! `background_clear`. Its launch and its resume need agent tasks.

use std::time::Duration;

use meanwhile::{Condition, Error, Task};
use mw_model::signal_number;
use serde_json::{Value, json};

use super::Dialect;
use super::text::{minutes, title};
use crate::tools::{
    Arguments, Cleared, Desk, Effect, Excerpt, Field, Kind, Offered, Parameter, Range, Refusal, Reply,
    StopCall, Tool, WaitCall, clear, stop, wait,
};

const OWN: Dialect = Dialect::BackgroundTask;

pub(super) static TOOLS: [Tool; 4] = [
    Tool {
        name: "background_output",
        title: "Status or result of a task",
        about: "Return the result of a finished background task, or status and progress of a running one. Never blocks; use background_block to wait.",
        about_background: "",
        parameters: &[Parameter::required("task_id", Kind::Text, "")],
        effect: Effect::Reads,
        offered: Offered::WithBackground,
        reply: &[
            Field::new("task_id", "string"),
            Field::new("status", "string"),
            Field::new("result", "string"),
            Field::new("error", "string"),
            Field::new("progress", "object"),
            Field::new("batchId", "string|null"),
            Field::new("resumeCount", "integer"),
            Field::new("retrievedAt", "string"),
        ],
        run: background_output,
    },
    Tool {
        name: "background_block",
        title: "Wait for tasks",
        about: "Wait until all of these tasks have ended, or until the timeout (ms, default 30000). Returns the status of each.",
        about_background: "",
        parameters: &[
            Parameter::required("task_ids", Kind::Texts, ""),
            Parameter::optional(
                "timeout",
                Kind::Number(Range { least: 0, most: Some(600_000), default: Some(30_000) }),
                "",
            ),
        ],
        effect: Effect::Reads,
        offered: Offered::WithBackground,
        reply: &[Field::new("tasks", "array"), Field::new("timed_out", "boolean")],
        run: background_block,
    },
    Tool {
        name: "background_cancel",
        title: "Cancel tasks",
        about: "Cancel a task, or all running tasks of a batch.",
        about_background: "",
        parameters: &[
            Parameter::optional("task_id", Kind::Text, ""),
            Parameter::optional("batch_id", Kind::Text, ""),
        ],
        effect: Effect::Ends,
        offered: Offered::WithBackground,
        reply: &[Field::new("tasks", "array")],
        run: background_cancel,
    },
    Tool {
        name: "background_clear",
        title: "Forget finished tasks",
        about: "Remove finished tasks: these, or all.",
        about_background: "",
        parameters: &[Parameter::optional("task_ids", Kind::Texts, "")],
        effect: Effect::Ends,
        offered: Offered::WithBackground,
        reply: &[Field::new("cleared", "array"), Field::new("kept", "array")],
        run: background_clear,
    },
];

fn background_output(arguments: &Arguments, desk: &Desk<'_>) -> Result<Reply, Refusal> {
    let task = desk.task(arguments.required("task_id"))?;
    let output = Excerpt::of(&task, desk)?;
    let mut data = summary(&task);
    let mut text = line(&task);
    if !output.text.is_empty() {
        text.push_str(&format!("\n\n{}", output.text.trim_end_matches('\n')));
    }
    if output.left_out > 0 {
        text.push_str(&format!("\n\nFull output: {}", task.output_path));
    }
    if !task.status.is_terminal() {
        data["progress"] = json!({"lastUpdate": desk.runtime.last_output(&task), "output": output.text, "progress": task.progress});
        return Ok(Reply::new(text, data));
    }
    data["result"] = output.text.into();
    data["retrievedAt"] = json!(desk.runtime.note_retrieved(&task.id)?);
    if OWN.state(&task) == "error" {
        data["error"] = json!(task.cause);
    }
    Ok(Reply::new(text, data).telling([task.id]))
}

fn background_block(arguments: &Arguments, desk: &Desk<'_>) -> Result<Reply, Refusal> {
    let timeout = Duration::from_millis(arguments.number("timeout").unwrap_or(30_000));
    let waited = wait(
        WaitCall {
            tasks: arguments.texts("task_ids").unwrap_or_default(),
            any: false,
            condition: Condition::Exit,
            timeout: Some(timeout),
        },
        desk,
    )?;
    let mut lines: Vec<_> = waited.tasks.iter().map(line).collect();
    lines.extend(waited.unknown.iter().map(|id| format!("{id}: not found")));
    if waited.timed_out {
        lines.push("The time is up; what runs goes on.".to_owned());
    }
    let mut tasks: Vec<_> = waited.tasks.iter().map(summary).collect();
    tasks
        .extend(waited.unknown.iter().map(|id| json!({"task_id": id, "status": null, "error": "not found"})));
    let told: Vec<_> = waited.ended().map(|task| task.id.clone()).collect();
    let data = json!({"tasks": tasks, "timed_out": waited.timed_out});
    Ok(Reply::new(lines.join("\n"), data).telling(told))
}

fn background_cancel(arguments: &Arguments, desk: &Desk<'_>) -> Result<Reply, Refusal> {
    let (task, batch) = (arguments.text("task_id"), arguments.text("batch_id"));
    if task.is_none() && batch.is_none() {
        return Err(Refusal::argument("task_id", "or batch_id is needed"));
    }
    let call = StopCall {
        tasks: task.map(str::to_owned).into_iter().collect(),
        batch: batch.map(str::to_owned),
        signal: signal_number("TERM").unwrap_or(15),
    };
    let stopped = stop(&call, desk)?;
    let lines: Vec<_> = stopped.iter().map(|one| line(&one.after)).collect();
    let text =
        if lines.is_empty() { "Nothing of that batch is running.".to_owned() } else { lines.join("\n") };
    let told: Vec<_> = stopped.iter().map(|one| one.after.id.clone()).collect();
    let tasks: Vec<_> = stopped.iter().map(|one| summary(&one.after)).collect();
    Ok(Reply::new(text, json!({"tasks": tasks})).telling(told))
}

fn background_clear(arguments: &Arguments, desk: &Desk<'_>) -> Result<Reply, Refusal> {
    let Cleared { removed, kept } = clear(arguments.texts("task_ids"), desk)?;
    let mut text = format!("Cleared {} tasks.", removed.len());
    for one in &kept {
        text.push_str(&format!("\n{} kept: {}", one.id, one.reason));
    }
    Ok(Reply::new(text, json!({"cleared": removed, "kept": kept})))
}

fn line(task: &Task) -> String {
    let queued = if task.queue_position.is_some() { " (queued)" } else { "" };
    let time = task.duration_ms.map(|ms| format!(", {}", minutes(ms))).unwrap_or_default();
    let why = match (OWN.state(task), &task.cause) {
        ("error" | "cancelled", Some(cause)) => format!(", {cause}"),
        _ => String::new(),
    };
    format!("{}: {}{queued}{why}{time} — {}", task.id, OWN.state(task), title(task))
}

fn summary(task: &Task) -> Value {
    json!({
        "task_id": task.id,
        "description": title(task),
        "status": OWN.state(task),
        "queued": task.queue_position.is_some(),
        "createdAt": task.created_at,
        "completedAt": task.ended_at,
        "batchId": task.batch_id,
        "resumeCount": task.resume_count,
        "exitCode": task.exit_code,
    })
}

pub(super) fn refuse(refusal: &Refusal, desk: &Desk<'_>) -> Reply {
    let text = match refusal {
        Refusal::Engine(Error::NotFound(id)) => {
            let live: Vec<_> = desk.live().iter().map(|task| task.id.to_string()).collect();
            let list = if live.is_empty() { "none".to_owned() } else { live.join(", ") };
            format!("Task {id:?} not found. Running: {list}.")
        }
        other => format!("{other}."),
    };
    Reply::failure(text.clone(), json!({"error": text}))
}
