//! How the tools of our own set carry calls out.

use std::time::Duration;

use meanwhile::{Condition, Filter, From, StreamChoice, Task};
use mw_model::{Io, Status, TaskId, TaskKind, signal_number};
use serde_json::{Value, json};

use crate::call::{Arguments, Desk, Refusal, Reply};
use crate::dialects::text::{command, first_line, seconds, title};
use crate::operations::{
    ClearCall, Cleared, Excerpt, OutputCall, Ran, Returned, ShellCall, StopCall, WaitCall, Wish,
    await_answer, clear, delegate, follow_up, list, output, run, search, shorten, start, stop, told,
    type_into, wait,
};

/// Whose place in the output `task_output` keeps.
const READER: &str = "model";
/// How many tasks that are over a list shows beside the live ones.
const MOST_ENDED: usize = 10;
/// What is said of a batch of which there is nothing to say.
const NO_SUCH_BATCH: &str = "No task of that batch.";

pub(super) fn shell(arguments: &Arguments, desk: &Desk<'_>) -> Result<Reply, Refusal> {
    let call = ShellCall {
        cwd: arguments.text("cwd").map(Into::into),
        env: arguments.pairs("env"),
        title: arguments.text("description").map(str::to_owned),
        expected: arguments.text("expected").map(str::to_owned),
        run_timeout_ms: arguments.number("timeout"),
        io: if arguments.flag("pty") == Some(true) { Io::Pty { rows: 24, cols: 80 } } else { Io::Pipes },
        ..ShellCall::script(arguments.required("command"), desk)
    };
    if arguments.flag("run_in_background") == Some(true) {
        return Ok(started(&start(&call, desk)?, desk));
    }
    Ok(ran(&run(&call, desk)?))
}

/// The reply to a command in the foreground, be it over or not.
pub fn ran(ran: &Ran) -> Reply {
    let (task, output) = (&ran.task, &ran.output);
    let mut text = output.text.clone();
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    if output.left_out > 0 {
        text.push_str(&format!("[full log: {}]\n", task.output_path));
    }
    let mut data = json!({
        "status": task.status,
        "exit_code": task.exit_code,
        "pid": task.pid,
        "output": output.text,
        "left_out_bytes": output.left_out,
    });
    // What is about to be removed is not named.
    if !ran.is_spent() {
        data["task_id"] = json!(task.id);
        data["output_path"] = json!(task.output_path);
    }
    if let Returned::CutOff(limit) = ran.returned {
        text.push_str(&format!("[ended: a call may take {} here]\n", seconds(limit.as_millis() as u64)));
    }
    if task.status.is_terminal() {
        text.push_str(&format!("[{}, {}]", outcome(task), seconds(task.duration_ms.unwrap_or(0))));
    } else {
        let took = seconds(ran.took.as_millis() as u64);
        let why = match ran.returned {
            Returned::Moved => format!("moved to the background by the user after {took}"),
            Returned::Over | Returned::CutOff(_) | Returned::Late | Returned::Left => {
                format!("still running after {took}")
            }
        };
        text.push_str(&format!(
            "[{why}; it goes on in the background as {}. You are told when it ends; task_wait waits on.]",
            task.id
        ));
    }
    ran.told_by(Reply::new(text, data))
}

fn started(task: &Task, desk: &Desk<'_>) -> Reply {
    let place = task.queue_position.map(|place| format!(" (place {place} in the queue)"));
    let pid = task.pid.map(|pid| format!(" (pid {pid})"));
    let verb = if place.is_some() { "Queued" } else { "Started" };
    let begun =
        format!("{verb} {}{}. Output: {}", task.id, place.or(pid).unwrap_or_default(), task.output_path);
    let text = format!("{begun}\nYou are told when it ends; do not poll. {}", desk.end_in_words(task));
    let over = format!("{begun}\nIt has already ended, see below.");
    let data = json!({
        "task_id": task.id, "status": task.status, "pid": task.pid, "output_path": task.output_path,
        "exit_code": null, "output": "", "left_out_bytes": 0,
    });
    Reply::new(text, data).starting(task, Some(over))
}

pub(super) fn agent(arguments: &Arguments, desk: &Desk<'_>) -> Result<Reply, Refusal> {
    let text = |name: &str| arguments.text(name).map(str::to_owned);
    let wish = Wish {
        agent: text("agent"),
        prompt: arguments.required("prompt").to_owned(),
        title: text("description"),
        cwd: text("cwd").map(Into::into),
        batch: text("batch_id"),
        worktree: arguments.flag("worktree") == Some(true),
        parent_message: None,
    };
    let task = delegate(wish, desk)?;
    if arguments.flag("run_in_background") == Some(true) {
        return Ok(asked(&task));
    }
    let task = await_answer(&task, desk)?;
    if !task.status.is_terminal() {
        let reply = asked(&task);
        return Ok(reply.after("It still works. "));
    }
    let answer = Excerpt::of(&task, desk)?.text;
    let data = json!({
        "task_id": task.id, "status": task.status, "answer": answer, "output_path": task.output_path,
    });
    let text = format!("{answer}\n[{} {}]", task.id, outcome(&task));
    Ok(Reply { failed: task.status != Status::Completed, ..Reply::new(text, data) }.telling([task.id]))
}

pub(super) fn task_resume(arguments: &Arguments, desk: &Desk<'_>) -> Result<Reply, Refusal> {
    Ok(asked(&follow_up(arguments.required("task_id"), arguments.required("message"), desk)?))
}

/// The reply to a message that an agent works on.
fn asked(task: &Task) -> Reply {
    let data = json!({
        "task_id": task.id, "status": task.status, "answer": null, "output_path": task.output_path,
    });
    let text = format!("Asked {} ({}). You are told its answer; do not poll.", task.id, task.status.word());
    let over = format!("Asked {}. It has already ended, see below.", task.id);
    Reply::new(text, data).starting(task, Some(over))
}

pub(super) fn task_output(arguments: &Arguments, desk: &Desk<'_>) -> Result<Reply, Refusal> {
    let handle = arguments.required("task_id");
    let mut timed_out = false;
    if arguments.flag("block") == Some(true) {
        let timeout = desk.wait(arguments.number("timeout"));
        timed_out = wait_for(vec![desk.task(handle)?.id.to_string()], timeout, desk)?;
    }
    if let Some(pattern) = arguments.text("pattern") {
        let found = search(handle, pattern, desk)?;
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
    let task = desk.task(handle)?;
    if task.agent.is_some() && task.status.is_terminal() && !wants_part && arguments.text("stream").is_none()
    {
        let answer = Excerpt::of(&task, desk)?.text;
        let data = json!({
            "task_id": task.id, "status": task.status, "exit_code": task.exit_code,
            "output": answer, "next_offset": null, "more": false, "timed_out": timed_out,
        });
        return Ok(Reply::new(format!("{}\n{answer}", line(&task)), data).telling([task.id]));
    }
    let from = match (arguments.number("lines"), arguments.number("offset")) {
        (Some(lines), _) => From::TailLines(lines),
        (None, Some(offset)) => From::Offset(offset),
        (None, None) => From::Cursor(desk.reader(READER)),
    };
    let stream = stream_of(arguments.text("stream"));
    let read = output(
        OutputCall { task: handle.to_owned(), stream, from, max_lines: 0, within: 0, parts: 1 },
        desk,
    )?;
    let mut text = format!("{}\n", line(&read.task));
    if timed_out {
        text.push_str("[waiting timed out; the task goes on]\n");
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
    let told = read.ended.then(|| read.task.id.clone());
    Ok(Reply::new(text, data).telling(told))
}

/// Reads a list of tasks; without a batch it must name at least one.
fn some_tasks(arguments: &Arguments) -> Result<Vec<String>, Refusal> {
    let tasks = arguments.texts("task_ids").unwrap_or_default();
    if tasks.is_empty() && arguments.text("batch_id").is_none() {
        return Err(Refusal::argument("task_ids", "is empty: name a task, or a batch"));
    }
    Ok(tasks)
}

/// Adds the tasks of the batch that is named, if one is.
fn with_batch(
    mut tasks: Vec<String>,
    arguments: &Arguments,
    desk: &Desk<'_>,
) -> Result<Vec<String>, Refusal> {
    if let Some(batch) = arguments.text("batch_id") {
        let all = Filter { batch: Some(batch.to_owned()), limit: u32::MAX, ..Filter::new(desk.scope()) };
        tasks.extend(desk.runtime.list(&all)?.tasks.iter().map(|task| task.id.to_string()));
    }
    Ok(tasks)
}

/// Waits for ends; tells whether the time was up.
fn wait_for(tasks: Vec<String>, timeout: Duration, desk: &Desk<'_>) -> Result<bool, Refusal> {
    let call = WaitCall { tasks, any: false, condition: Condition::Exit, timeout: Some(timeout) };
    Ok(wait(call, desk)?.timed_out)
}

/// Reads the word for a stream.
fn stream_of(word: Option<&str>) -> StreamChoice {
    match word {
        Some("stdout") => StreamChoice::Stdout,
        Some("stderr") => StreamChoice::Stderr,
        _ => StreamChoice::Both,
    }
}

pub(super) fn task_wait(arguments: &Arguments, desk: &Desk<'_>) -> Result<Reply, Refusal> {
    let condition = match (arguments.text("pattern"), arguments.number("port")) {
        (Some(pattern), _) => Condition::matching(pattern)?,
        (None, Some(port)) => Condition::Port(port as u16),
        (None, None) => Condition::Exit,
    };
    let wants_all = arguments.texts("task_ids").is_none() && arguments.text("batch_id").is_none();
    let tasks =
        if wants_all { own_live(desk)? } else { with_batch(some_tasks(arguments)?, arguments, desk)? };
    if wants_all && tasks.is_empty() {
        let data = json!({"tasks": [], "met": [], "not_found": [], "timed_out": false});
        return Ok(Reply::new("No task of yours is running.".to_owned(), data));
    }
    let mut waited = wait(
        WaitCall {
            tasks,
            any: arguments.flag("any") == Some(true),
            condition,
            timeout: arguments.number("timeout").map(Duration::from_millis),
        },
        desk,
    )?;
    let missing = shorten(&mut waited.tasks, room, desk);
    let Ends { mut lines, entries, told } = ends(&waited.tasks, desk)?;
    lines.extend(more(missing + waited.tasks.len() - entries.len()));
    lines.extend(waited.unknown.iter().map(|handle| format!("{handle} not found")));
    if lines.is_empty() {
        lines.push(NO_SUCH_BATCH.to_owned());
    }
    if waited.timed_out {
        lines.push(
            "[time is up; what runs goes on. Call task_wait again, or go on working: you are told.]"
                .to_owned(),
        );
    }
    let data = json!({
        "tasks": entries,
        "met": waited.met,
        "not_found": waited.unknown,
        "timed_out": waited.timed_out,
    });
    Ok(Reply::new(lines.join("\n"), data).telling(told))
}

/// Returns this agent's own tasks that are not over.
fn own_live(desk: &Desk<'_>) -> Result<Vec<String>, Refusal> {
    let all = Filter { limit: u32::MAX, ..Filter::new(desk.scope()) };
    let live = desk.runtime.list(&all)?.tasks.into_iter().filter(|task| !task.status.is_terminal());
    Ok(live.filter(|task| desk.is_own(task)).map(|task| task.id.to_string()).collect())
}

/// How tasks stand, in words and as data, and whose end that tells.
struct Ends {
    lines: Vec<String>,
    entries: Vec<Value>,
    told: Vec<TaskId>,
}

/// Says how each task stands; of one that is over everything that a notification would say: what its output says of
/// the outcome, and what an agent answered or failed by. Also returns the same as data, and whose end is told: a task
/// for which there is no room is left out, and told another time.
fn ends(tasks: &[Task], desk: &Desk<'_>) -> Result<Ends, Refusal> {
    let over = tasks.iter().filter(|task| task.status.is_terminal()).count().max(1) as u64;
    let most = desk.premises.reply_bytes;
    let (mut lines, mut entries, mut told, mut used) = (Vec::new(), Vec::new(), Vec::new(), 0);
    for task in tasks {
        let (mut text, mut entry) = (line(task), entry(task));
        if task.status.is_terminal() {
            if task.kind == TaskKind::Agent {
                let answer = Excerpt::within(task, most / over, desk)?.text;
                text.push_str(&format!("\n{answer}"));
                entry["answer"] = json!(answer);
            } else if let Some(outcome) = desk.runtime.outcome(task) {
                text.push_str(&format!("\n  {outcome}"));
                entry["outcome"] = json!(outcome);
            }
        }
        used += text.len() as u64;
        if used > most && !lines.is_empty() {
            break;
        }
        told.extend(task.status.is_terminal().then(|| task.id.clone()));
        lines.push(text);
        entries.push(entry);
    }
    Ok(Ends { lines, entries, told })
}

pub(super) fn task_stop(arguments: &Arguments, desk: &Desk<'_>) -> Result<Reply, Refusal> {
    let word = arguments.text("signal").unwrap_or("TERM");
    let signal = signal_number(word).ok_or_else(|| Refusal::argument("signal", "is no signal"))?;
    let tasks = some_tasks(arguments)?;
    let batch = arguments.text("batch_id").map(str::to_owned);
    let mut stopped = stop(&StopCall { tasks, batch, signal }, desk)?;
    let missing = shorten(&mut stopped, |one| room(&one.after) + one.receipt.killed.len() * 8, desk);
    let mut lines = Vec::new();
    let mut data = Vec::new();
    for one in &stopped {
        let over = one.before.status.is_terminal();
        let dead = one.receipt.killed.len() as u64 + one.receipt.killed_more;
        let alive = one.receipt.survivors.len();
        let sent: Vec<_> = one.receipt.signals.iter().map(|sent| sent.signal.as_str()).collect();
        let what = match () {
            () if over => "was over already".to_owned(),
            // It goes on: the signal was only sent.
            () if !one.receipt.status.is_terminal() && dead == 0 && alive == 0 => {
                format!("{} sent", sent.join(", "))
            }
            () => format!("{dead} processes ended"),
        };
        let rest = if alive > 0 { format!(", {alive} survive") } else { String::new() };
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
    Ok(Reply::new(lines.join("\n"), json!({"tasks": data})).telling(told(&stopped)))
}

pub(super) fn task_list(arguments: &Arguments, desk: &Desk<'_>) -> Result<Reply, Refusal> {
    let statuses = arguments.text("status").and_then(Status::from_word).into_iter().collect();
    let batch = arguments.text("batch_id").map(str::to_owned);
    let mut listed = list(Filter { statuses, batch, ..Filter::new(desk.scope()) }, room, desk)?;
    if arguments.text("status").is_none() {
        // Who wants to know what goes on reads no history.
        let live = listed.tasks.iter().filter(|task| !task.status.is_terminal()).count();
        listed.tasks.truncate(live + MOST_ENDED);
    }
    let mut lines: Vec<_> = listed.tasks.iter().map(line).collect();
    let missing = listed.missing();
    if missing > 0 {
        lines.push(format!("[{missing} older ones are not shown; status lists those in one state]"));
    }
    if lines.is_empty() {
        lines.push("No tasks.".to_owned());
    }
    let tasks: Vec<_> = listed.tasks.iter().map(entry).collect();
    Ok(Reply::new(lines.join("\n"), json!({"tasks": tasks, "total": listed.total})))
}

pub(super) fn task_input(arguments: &Arguments, desk: &Desk<'_>) -> Result<Reply, Refusal> {
    let mut text = arguments.required("text").to_owned();
    if arguments.flag("enter") != Some(false) {
        text.push('\n');
    }
    let bytes = type_into(arguments.required("task_id"), &text, desk)?;
    Ok(Reply::new(format!("{bytes} bytes typed."), json!({"bytes": bytes})))
}

pub(super) fn task_clear(arguments: &Arguments, desk: &Desk<'_>) -> Result<Reply, Refusal> {
    let call = ClearCall {
        tasks: arguments.texts("task_ids"),
        batch: arguments.text("batch_id").map(str::to_owned),
        cancel: false,
    };
    let Cleared { removed, kept } = clear(&call, desk)?;
    let mut text = format!("{} removed.", removed.len());
    for one in &kept {
        text.push_str(&format!("\n{} kept: {}", one.id, one.reason));
    }
    Ok(Reply::new(text, json!({"removed": removed, "kept": kept})))
}

/// How much room a task takes in a reply about several.
fn room(task: &Task) -> usize {
    line(task).len() + entry(task).to_string().len()
}

/// Says how many tasks a reply has no room for.
fn more(missing: usize) -> Option<String> {
    (missing > 0).then(|| format!("[{missing} more are not shown; task_list has them]"))
}

/// One task in one line.
fn line(task: &Task) -> String {
    let time = task.duration_ms.map(|ms| format!(" {}", seconds(ms))).unwrap_or_default();
    let state = if task.status.is_terminal() {
        outcome(task)
    } else {
        match (&task.progress, task.queue_position) {
            (Some(progress), _) => format!("{} {}", task.status.word(), progress.to_words()),
            (None, Some(place)) => format!("pending, place {place}"),
            (None, None) => task.status.word().to_owned(),
        }
    };
    format!("{} {state}{time}: {}", task.id, title(task))
}

/// How a task ended, in words.
fn outcome(task: &Task) -> String {
    let cause = task.cause.as_deref().map(first_line).unwrap_or_default();
    match task.status {
        Status::Completed => "completed".to_owned(),
        status if cause.is_empty() => status.word().to_owned(),
        status => format!("{}, {cause}", status.word()),
    }
}

fn entry(task: &Task) -> Value {
    json!({
        "task_id": task.id,
        "name": task.name,
        "description": task.description.as_deref().map(first_line),
        "command": command(task),
        "status": task.status,
        "cause": task.cause,
        "exit_code": task.exit_code,
        "duration_ms": task.duration_ms,
        "output_path": task.output_path,
        "output_bytes": task.output_bytes,
        "progress": task.progress,
    })
}
