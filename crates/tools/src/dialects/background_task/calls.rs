//! The functions behind the tools of the background-task specification.

use meanwhile::engine::ClearReport;
use meanwhile::{Task, TaskFilter};
use mw_model::signal::SIGTERM;
use serde_json::{Value, json};

use super::definitions::{OWN, START_ANEW};
use crate::call::{Arguments, CallContext, CallRefusal, Over, Reply};
use crate::dialects::state;
use crate::operations::{
    AgentRequest, Excerpt, StopCall, StopResult, WaitCall, clear, delegate, follow_up, list, shorten, stop,
    wait,
};
use crate::text::title;
use mw_model::{SESSION_EXPIRED, count, whole_duration};

/// The minimum size limit for an agent's answer in `background_output`.
const MAX_RESULT: u64 = 64 << 10;

pub(super) fn background_task(arguments: &Arguments, cx: &CallContext<'_>) -> Result<Reply, CallRefusal> {
    let text = |name: &str| arguments.text(name).map(str::to_owned);
    let wanted = AgentRequest {
        agent: text("agent"),
        prompt: arguments.required("prompt").to_owned(),
        title: text("description"),
        batch: text("batch_id"),
        parent_message: text("parent_message"),
        ..AgentRequest::default()
    };
    let task = cx.task(delegate(wanted, cx)?.id.as_str())?;
    Ok(begun(&task, "You get a notification with the result; do not poll.", cx))
}

pub(super) fn background_resume(arguments: &Arguments, cx: &CallContext<'_>) -> Result<Reply, CallRefusal> {
    let task = follow_up(arguments.required("task_id"), arguments.required("message"), cx)?;
    let task = cx.task(task.id.as_str())?;
    Ok(begun(&task, "Message sent; you get a notification with the response.", cx))
}

/// Creates the reply to a start or a follow-up. It says what happens at the end of the session.
fn begun(task: &Task, promise: &str, cx: &CallContext<'_>) -> Reply {
    let mut data = summary(task);
    data["endsWithSession"] = cx.ends_with_session(task).into();
    let text = format!("{}\n{promise}\n{}", line(task), cx.end_in_words(task));
    let (task_then, title) = (task.id.clone(), title(task));
    Reply::new(text, data).starting(task, move |end| Over {
        text: format!("{task_then}: {} — {title}\nIt has already ended, see below.", end.word),
        data: json!({"status": end.word, "exitCode": end.exit_code, "queued": false}),
    })
}

pub(super) fn background_output(arguments: &Arguments, cx: &CallContext<'_>) -> Result<Reply, CallRefusal> {
    let handle = match (arguments.text("task_id"), arguments.text("batch_id")) {
        (Some(handle), _) => handle,
        (None, Some(batch)) => return batch_status(batch, cx),
        (None, None) => return Err(CallRefusal::argument("task_id", "or batch_id is required")),
    };
    let task = cx.task(handle)?;
    let most = cx.call_settings.reply_bytes;
    // The answer of an agent is its result, and no other tool returns it, so it gets more room.
    let most = if task.agent.is_some() && task.status.is_terminal() { most.max(MAX_RESULT) } else { most };
    let output = Excerpt::within(&task, most, cx)?;
    let mut data = summary(&task);
    let mut text = line(&task);
    if !output.text.is_empty() {
        text.push_str(&format!("\n\n{}", output.text.trim_end_matches('\n')));
    }
    if output.left_out > 0 {
        let all = task.agent.as_ref().map_or(&task.output_path, |agent| &agent.record_path);
        text.push_str(&format!("\n\nFull output: {all}"));
    }
    if !task.status.is_terminal() {
        data["progress"] = progress(&task, &output, cx);
        return Ok(Reply::new(text, data));
    }
    data["result"] = output.text.into();
    data["retrievedAt"] = json!(cx.runtime.reader().note_retrieved(&task.id)?);
    if let Some(error) = task.agent.as_ref().and_then(|agent| agent.error.as_ref()) {
        data["error"] = error.replacen(SESSION_EXPIRED, START_ANEW, 1).into();
    } else if state(&task, OWN) == "error" {
        data["error"] = task.cause.clone().unwrap_or_else(|| task.status.word().to_owned()).into();
    }
    Ok(Reply::new(text, data).reporting([task.id]))
}

/// Returns the progress of a running task.
fn progress(task: &Task, output: &Excerpt, cx: &CallContext<'_>) -> Value {
    let Some(agent) = &task.agent else {
        let last = cx.runtime.reader().last_output(task);
        return json!({"lastUpdate": last, "output": output.text, "progress": task.progress});
    };
    let activity = &agent.activity;
    let tools: Vec<_> = activity.recent_tools.iter().map(mw_model::ToolUse::called).collect();
    json!({
        "toolCalls": activity.tool_calls,
        "recentTools": tools,
        "lastUpdate": activity.last_update,
        "plan": activity.plan,
        "waiting": activity.waiting,
        "output": output.text,
        "progress": task.progress,
    })
}

fn batch_status(batch: &str, cx: &CallContext<'_>) -> Result<Reply, CallRefusal> {
    let filter = TaskFilter { batch: Some(batch.to_owned()), ..TaskFilter::new(cx.scope()) };
    let mut listed = list(filter, room, cx)?;
    complete(&mut listed.tasks, cx);
    let mut lines: Vec<_> = listed.tasks.iter().map(line).collect();
    lines.extend(more(listed.missing() as usize));
    if lines.is_empty() {
        lines.push("No tasks in that batch.".to_owned());
    }
    let tasks: Vec<_> = listed.tasks.iter().map(summary).collect();
    Ok(Reply::new(lines.join("\n"), json!({"tasks": tasks})))
}

/// Adds facts that lists do not contain: the parents and the agent.
fn complete(tasks: &mut [Task], cx: &CallContext<'_>) {
    for task in tasks {
        if let Ok(full) = cx.task(task.id.as_str()) {
            *task = full;
        }
    }
}

/// Returns the room that a task takes in a reply about several tasks.
fn room(task: &Task) -> usize {
    line(task).len() + summary(task).to_string().len()
}

/// Describes how many tasks did not fit into the reply.
fn more(missing: usize) -> Option<String> {
    (missing > 0).then(|| format!("({missing} more not shown)"))
}

pub(super) fn background_block(arguments: &Arguments, cx: &CallContext<'_>) -> Result<Reply, CallRefusal> {
    let timeout = cx.wait(arguments.number("timeout"));
    let mut tasks = arguments.texts("task_ids").unwrap_or_default();
    if let Some(batch) = arguments.text("batch_id") {
        tasks.extend(cx.batch(batch)?.iter().map(|task| task.id.to_string()));
    } else if tasks.is_empty() {
        return Err(CallRefusal::argument("task_ids", "or batch_id is required"));
    }
    let mut waited = wait(WaitCall::exit(tasks, timeout), cx)?;
    complete(&mut waited.tasks, cx);
    let missing = shorten(&mut waited.tasks, room, cx);
    let reported: Vec<_> = waited.ended().map(|task| task.id.clone()).collect();
    let mut lines: Vec<_> = waited.tasks.iter().map(line).collect();
    lines.extend(more(missing));
    lines.extend(waited.unknown.iter().map(|id| format!("{id}: not found")));
    if lines.is_empty() {
        lines.push("No tasks in that batch.".to_owned());
    }
    if waited.timed_out {
        lines.push("Timed out; running tasks continue.".to_owned());
    }
    let mut tasks: Vec<_> = waited.tasks.iter().map(summary).collect();
    tasks
        .extend(waited.unknown.iter().map(|id| json!({"task_id": id, "status": null, "error": "not found"})));
    let data = json!({"tasks": tasks, "timed_out": waited.timed_out});
    Ok(Reply::new(lines.join("\n"), data).reporting(reported))
}

pub(super) fn background_cancel(arguments: &Arguments, cx: &CallContext<'_>) -> Result<Reply, CallRefusal> {
    let (task, batch) = (arguments.text("task_id"), arguments.text("batch_id"));
    if task.is_none() && batch.is_none() {
        return Err(CallRefusal::argument("task_id", "or batch_id is required"));
    }
    let tasks = task.map(str::to_owned).into_iter().collect();
    let call = StopCall { tasks, batch: batch.map(str::to_owned), signal: SIGTERM };
    let mut stopped = stop(&call, cx)?;
    let missing = shorten(&mut stopped, |one| room(&one.after), cx);
    let mut lines: Vec<_> = stopped.iter().map(|one| line(&one.after)).collect();
    lines.extend(more(missing));
    let text = if lines.is_empty() { "No running tasks in that batch.".to_owned() } else { lines.join("\n") };
    let tasks: Vec<_> = stopped.iter().map(|one| summary(&one.after)).collect();
    Ok(Reply::new(text, json!({"tasks": tasks})).reporting(stopped.iter().filter_map(StopResult::reported)))
}

pub(super) fn background_clear(arguments: &Arguments, cx: &CallContext<'_>) -> Result<Reply, CallRefusal> {
    let (ClearReport { cleared, kept }, lines) = clear(arguments, cx)?;
    let text = format!("Cleared {}.{lines}", count(cleared.len(), "task", "tasks"));
    Ok(Reply::new(text, json!({"cleared": cleared, "kept": kept})))
}

fn line(task: &Task) -> String {
    let queued = if task.queue_position.is_some() { " (queued)" } else { "" };
    let time = task.duration_ms.map(|ms| format!(", {}", whole_duration(ms))).unwrap_or_default();
    let why = match (state(task, OWN), &task.cause) {
        ("error" | "cancelled", Some(cause)) => format!(", {cause}"),
        _ => String::new(),
    };
    format!("{}: {}{queued}{why}{time} — {}", task.id, state(task, OWN), title(task))
}

fn summary(task: &Task) -> Value {
    json!({
        "task_id": task.id,
        "description": title(task),
        "agent": task.agent.as_ref().map(|agent| &agent.name),
        "status": state(task, OWN),
        "queued": task.queue_position.is_some(),
        "createdAt": task.created_at,
        "completedAt": task.ended_at,
        "parentSession": task.parent_session,
        "parentMessage": task.parent_message,
        "batchId": task.batch_id,
        "resumeCount": task.resume_count,
        "exitCode": task.exit_code,
    })
}
