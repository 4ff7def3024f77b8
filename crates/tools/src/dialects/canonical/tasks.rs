//! The tools for tasks that were started earlier: output, wait, stop, list, input and clear.

use std::time::Duration;

use meanwhile::engine::{ClearReport, Condition, ReadFrom, StreamChoice};
use meanwhile::{Task, TaskFilter};
use mw_model::{Status, TaskId, TaskKind, signal_number};
use serde_json::{Value, json};

use super::lines::{entry, line, more, room};
use crate::call::{Arguments, CallContext, CallRefusal, Reply};
use crate::operations::{
    Excerpt, OutputCall, StopCall, StopResult, WaitCall, clear, list, output, search, shorten, stop,
    type_into, wait,
};

/// The reader whose position in the output `task_output` stores.
const READER: &str = "model";
/// The maximum number of ended tasks in a list.
const MAX_ENDED: usize = 10;
/// The reply for a batch without tasks.
const NO_SUCH_BATCH: &str = "No tasks in that batch.";

pub(super) fn task_output(arguments: &Arguments, cx: &CallContext<'_>) -> Result<Reply, CallRefusal> {
    let handle = arguments.required("task_id");
    let mut timed_out = false;
    if arguments.flag("block") == Some(true) {
        let timeout = cx.wait(arguments.number("timeout"));
        timed_out = wait(WaitCall::exit(vec![cx.task(handle)?.id.to_string()], timeout), cx)?.timed_out;
    }
    if let Some(pattern) = arguments.text("pattern") {
        let found = search(handle, pattern, cx)?;
        let task = &found.task;
        let more = if found.more { "[more lines match]\n" } else { "" };
        let text = format!("{}\n{}{more}", line(task), found.text);
        let data = json!({
            "task_id": task.id, "status": task.status, "exit_code": task.exit_code, "output": found.text,
            "next_offset": null, "more": found.more, "timed_out": timed_out,
        });
        return Ok(Reply::new(text, data));
    }
    let wants_part = ["lines", "offset"].iter().any(|name| arguments.number(name).is_some());
    let task = cx.task(handle)?;
    if task.agent.is_some() && task.status.is_terminal() && !wants_part && arguments.text("stream").is_none()
    {
        let answer = Excerpt::of(&task, cx)?.text;
        let data = json!({
            "task_id": task.id, "status": task.status, "exit_code": task.exit_code,
            "output": answer, "next_offset": null, "more": false, "timed_out": timed_out,
        });
        return Ok(Reply::new(format!("{}\n{answer}", line(&task)), data).reporting([task.id]));
    }
    let from = match (arguments.number("lines"), arguments.number("offset")) {
        (Some(lines), _) => ReadFrom::TailLines(lines),
        (None, Some(offset)) => ReadFrom::Offset(offset),
        (None, None) => ReadFrom::Cursor(cx.reader(READER)),
    };
    let stream = stream_of(arguments.text("stream"));
    let read = output(OutputCall::new(handle, stream, from), cx)?;
    let mut text = format!("{}\n", line(&read.task));
    if timed_out {
        text.push_str("[wait timed out; the task continues]\n");
    }
    if read.misses && arguments.number("lines").is_some() {
        text.push_str(&format!("[earlier output: {}]\n", read.task.output_path));
    }
    text.push_str(&read.text);
    if read.left > 0 {
        text.push_str(&format!(
            "\n[{} more bytes: call again, or offset {}, or lines/pattern]",
            read.left, read.next_offset
        ));
    }
    let data = json!({
        "task_id": read.task.id, "status": read.task.status, "exit_code": read.task.exit_code,
        "output": read.text, "next_offset": read.next_offset, "more": read.left > 0, "timed_out": timed_out,
    });
    let reported = read.ended.then(|| read.task.id.clone());
    Ok(Reply::new(text, data).reporting(reported))
}

/// Parses a list of tasks. Without a batch it must not be empty.
fn some_tasks(arguments: &Arguments) -> Result<Vec<String>, CallRefusal> {
    let tasks = arguments.texts("task_ids").unwrap_or_default();
    if tasks.is_empty() && arguments.text("batch_id").is_none() {
        return Err(CallRefusal::argument("task_ids", "is empty: give a task or a batch"));
    }
    Ok(tasks)
}

/// Parses the name of a stream.
fn stream_of(word: Option<&str>) -> StreamChoice {
    match word {
        Some("stdout") => StreamChoice::Stdout,
        Some("stderr") => StreamChoice::Stderr,
        _ => StreamChoice::Both,
    }
}

pub(super) fn task_wait(arguments: &Arguments, cx: &CallContext<'_>) -> Result<Reply, CallRefusal> {
    let condition = match (arguments.text("pattern"), arguments.number("port")) {
        (Some(pattern), _) => Condition::matching(pattern)?,
        (None, Some(port)) => Condition::Port(port as u16),
        (None, None) => Condition::Exit,
    };
    let wants_all = arguments.texts("task_ids").is_none() && arguments.text("batch_id").is_none();
    let mut tasks = if wants_all { own_live(cx)? } else { some_tasks(arguments)? };
    if let Some(batch) = arguments.text("batch_id") {
        tasks.extend(cx.batch(batch)?.iter().map(|task| task.id.to_string()));
    }
    if wants_all && tasks.is_empty() {
        let data = json!({"tasks": [], "met": [], "not_found": [], "timed_out": false});
        return Ok(Reply::new("You have no running tasks.".to_owned(), data));
    }
    let mut waited = wait(
        WaitCall {
            tasks,
            any: arguments.flag("any") == Some(true),
            condition,
            timeout: arguments.number("timeout").map(Duration::from_millis),
        },
        cx,
    )?;
    let missing = shorten(&mut waited.tasks, room, cx);
    let ReportedEnds { mut lines, entries, reported } = ends(&waited.tasks, cx)?;
    lines.extend(more(missing + waited.tasks.len() - entries.len()));
    lines.extend(waited.unknown.iter().map(|handle| format!("{handle} not found")));
    if lines.is_empty() {
        lines.push(NO_SUCH_BATCH.to_owned());
    }
    if waited.timed_out {
        lines.push(
            "[wait timed out; running tasks continue. Call task_wait again, or keep working: you get a notification.]"
                .to_owned(),
        );
    }
    let data = json!({
        "tasks": entries,
        "met": waited.met,
        "not_found": waited.unknown,
        "timed_out": waited.timed_out,
    });
    Ok(Reply::new(lines.join("\n"), data).reporting(reported))
}

/// Returns the live tasks of this agent.
fn own_live(cx: &CallContext<'_>) -> Result<Vec<String>, CallRefusal> {
    let all = TaskFilter { limit: u32::MAX, ..TaskFilter::new(cx.scope()) };
    let live = cx.runtime.tasks().list(&all)?.tasks.into_iter().filter(|task| !task.status.is_terminal());
    Ok(live.filter(|task| cx.is_own(task)).map(|task| task.id.to_string()).collect())
}

/// The states of tasks as text and data, and the tasks whose ends they report.
struct ReportedEnds {
    lines: Vec<String>,
    entries: Vec<Value>,
    reported: Vec<TaskId>,
}

/// Describes the state of each task as text and data. For an ended task, the description contains everything that a
/// notification would: the outcome found in its output, and the answer or failure of an agent. A task that does not fit
/// is left out, and its end is reported later.
fn ends(tasks: &[Task], cx: &CallContext<'_>) -> Result<ReportedEnds, CallRefusal> {
    let over = tasks.iter().filter(|task| task.status.is_terminal()).count().max(1) as u64;
    let most = cx.call_settings.reply_bytes;
    let (mut lines, mut entries, mut reported, mut used) = (Vec::new(), Vec::new(), Vec::new(), 0);
    for task in tasks {
        let (mut text, mut entry) = (line(task), entry(task));
        if task.status.is_terminal() {
            if task.kind == TaskKind::Agent {
                let answer = Excerpt::within(task, most / over, cx)?.text;
                text.push_str(&format!("\n{answer}"));
                entry["answer"] = json!(answer);
            } else if let Some(outcome) = cx.runtime.notifications().outcome(task) {
                text.push_str(&format!("\n  {outcome}"));
                entry["outcome"] = json!(outcome);
            }
        }
        used += text.len() as u64;
        if used > most && !lines.is_empty() {
            break;
        }
        reported.extend(task.status.is_terminal().then(|| task.id.clone()));
        lines.push(text);
        entries.push(entry);
    }
    Ok(ReportedEnds { lines, entries, reported })
}

pub(super) fn task_stop(arguments: &Arguments, cx: &CallContext<'_>) -> Result<Reply, CallRefusal> {
    let word = arguments.text("signal").unwrap_or("TERM");
    let signal = signal_number(word).ok_or_else(|| CallRefusal::argument("signal", "is not a signal"))?;
    let tasks = some_tasks(arguments)?;
    let batch = arguments.text("batch_id").map(str::to_owned);
    let mut stopped = stop(&StopCall { tasks, batch, signal }, cx)?;
    let missing = shorten(&mut stopped, |one| room(&one.after) + one.receipt.killed.len() * 8, cx);
    let mut lines = Vec::new();
    let mut data = Vec::new();
    for one in &stopped {
        let over = one.before.status.is_terminal();
        let dead = one.receipt.killed.len() as u64 + one.receipt.killed_more;
        let alive = one.receipt.survivors.len();
        let sent: Vec<_> = one.receipt.signals.iter().map(|sent| sent.signal.as_str()).collect();
        let what = match () {
            () if over => "had already ended".to_owned(),
            // The signal was sent, and the task is still running.
            () if !one.receipt.status.is_terminal() && dead == 0 && alive == 0 => {
                format!("{} sent", sent.join(", "))
            }
            () => format!("{} killed", mw_model::count(dead as usize, "process", "processes")),
        };
        let rest = if alive > 0 { format!(", {alive} still alive") } else { String::new() };
        lines.push(format!("{}: {what}{rest}", line(&one.after)));
        let mut entry = entry(&one.after);
        entry["signals"] = json!(one.receipt.signals);
        entry["killed"] = json!(one.receipt.killed);
        entry["survivors"] = json!(one.receipt.survivors);
        data.push(entry);
    }
    lines.extend(more(missing));
    if lines.is_empty() {
        lines.push(NO_SUCH_BATCH.to_owned());
    }
    Ok(Reply::new(lines.join("\n"), json!({"tasks": data}))
        .reporting(stopped.iter().filter_map(StopResult::reported)))
}

pub(super) fn task_list(arguments: &Arguments, cx: &CallContext<'_>) -> Result<Reply, CallRefusal> {
    let statuses = arguments.text("status").and_then(Status::from_word).into_iter().collect();
    let batch = arguments.text("batch_id").map(str::to_owned);
    let mut listed = list(TaskFilter { statuses, batch, ..TaskFilter::new(cx.scope()) }, room, cx)?;
    if arguments.text("status").is_none() {
        // The list is about current work, not about history.
        let live = listed.tasks.iter().filter(|task| !task.status.is_terminal()).count();
        listed.tasks.truncate(live + MAX_ENDED);
    }
    let mut lines: Vec<_> = listed.tasks.iter().map(line).collect();
    let missing = listed.missing();
    if missing > 0 {
        lines.push(format!("[{missing} older tasks not shown; use status to filter]"));
    }
    if lines.is_empty() {
        lines.push("No tasks.".to_owned());
    }
    let tasks: Vec<_> = listed.tasks.iter().map(entry).collect();
    Ok(Reply::new(lines.join("\n"), json!({"tasks": tasks, "total": listed.total})))
}

pub(super) fn task_input(arguments: &Arguments, cx: &CallContext<'_>) -> Result<Reply, CallRefusal> {
    let mut text = arguments.required("text").to_owned();
    if arguments.flag("enter") != Some(false) {
        text.push('\n');
    }
    let bytes = type_into(arguments.required("task_id"), &text, cx)?;
    Ok(Reply::new(format!("{bytes} bytes sent."), json!({"bytes": bytes})))
}

pub(super) fn task_clear(arguments: &Arguments, cx: &CallContext<'_>) -> Result<Reply, CallRefusal> {
    let (ClearReport { cleared, kept }, lines) = clear(arguments, cx)?;
    let text = format!("{} removed.{lines}", cleared.len());
    Ok(Reply::new(text, json!({"removed": cleared, "kept": kept})))
}
