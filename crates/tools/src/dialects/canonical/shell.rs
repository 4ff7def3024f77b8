//! `shell`: runs a command in the foreground or in the background.

use meanwhile::Task;
use mw_model::Io;
use serde_json::{Value, json};

use super::lines::outcome;
use crate::call::{Arguments, CallContext, CallRefusal, Over, Reply, RunEnd};
use crate::operations::{ForegroundRun, ReturnReason, ShellCall, run, start};
use mw_model::{millis, seconds};

pub(super) fn shell(arguments: &Arguments, cx: &CallContext<'_>) -> Result<Reply, CallRefusal> {
    let call = ShellCall {
        cwd: arguments.text("cwd").map(Into::into),
        env: arguments.pairs("env"),
        title: arguments.text("description").map(str::to_owned),
        expected: arguments.text("expected").map(str::to_owned),
        run_timeout_ms: arguments.number("timeout"),
        io: if arguments.flag("pty") == Some(true) { Io::Pty { rows: 24, cols: 80 } } else { Io::Pipes },
        ..ShellCall::script(arguments.required("command"), cx)
    };
    if arguments.flag("run_in_background") == Some(true) {
        return Ok(started(&start(&call, cx)?, cx));
    }
    Ok(ran(&run(&call, cx)?))
}

/// Creates the reply to a foreground command, whether it has ended or not.
pub fn ran(ran: &ForegroundRun) -> Reply {
    let (task, output) = (&ran.task, &ran.output);
    let mut text = shown_so_far(ran);
    let mut data = json!({
        "status": task.status,
        "exit_code": task.exit_code,
        "pid": task.pid,
        "output": output.text,
        "left_out_bytes": output.left_out,
    });
    // A log that will be removed is not mentioned.
    if !ran.is_spent() {
        data["task_id"] = json!(task.id);
        data["output_path"] = json!(task.output_path);
    }
    if let ReturnReason::CutOff(limit) = ran.returned {
        text.push_str(&format!("[ended: the time limit of a call is {}]\n", seconds(millis(limit))));
    }
    if task.status.is_terminal() {
        text.push_str(&format!("[{}, {}]", outcome(task), seconds(task.duration_ms.unwrap_or(0))));
    } else {
        let took = seconds(millis(ran.took));
        let why = why_it_goes_on(ran.returned, &took);
        text.push_str(&format!(
            "[{why}; it continues in the background as {}. You get a notification when it ends; use task_wait to wait.]",
            task.id
        ));
    }
    let reply = ran.told_by(Reply::new(text, data));
    if task.status.is_terminal() {
        return reply;
    }
    let shown = shown_so_far(ran);
    let id = task.id.clone();
    reply.starting(task, move |end| {
        let text =
            format!("{shown}[it continued in the background as {id} and has already ended, see below]");
        Over { text, data: ended(end) }
    })
}

/// Returns the output of a foreground command, and the location of the rest.
fn shown_so_far(ran: &ForegroundRun) -> String {
    let mut text = ran.output.text.clone();
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    if ran.output.left_out > 0 {
        text.push_str(&format!("[full log: {}]\n", ran.task.output_path));
    }
    text
}

/// Returns the data of the reply to a start of a task that has already ended.
fn ended(end: RunEnd) -> Value {
    json!({"status": end.word, "exit_code": end.exit_code})
}

fn started(task: &Task, cx: &CallContext<'_>) -> Reply {
    let place = task.queue_position.map(|place| format!(" (position {place} in the queue)"));
    let pid = task.pid.map(|pid| format!(" (pid {pid})"));
    let verb = if place.is_some() { "Queued" } else { "Started" };
    let begun =
        format!("{verb} {}{}. Output: {}", task.id, place.or(pid).unwrap_or_default(), task.output_path);
    let text =
        format!("{begun}\nYou get a notification when it ends; do not poll. {}", cx.end_in_words(task));
    let over = format!("{begun}\nIt has already ended, see below.");
    let data = json!({
        "task_id": task.id, "status": task.status, "pid": task.pid, "output_path": task.output_path,
        "exit_code": null, "output": "", "left_out_bytes": 0,
        "ends_with_session": cx.ends_with_session(task),
    });
    Reply::new(text, data).starting(task, move |end| Over { text: over.clone(), data: ended(end) })
}

/// Describes why and after what time a foreground call continues in the background.
pub(super) fn why_it_goes_on(returned: ReturnReason, took: &str) -> String {
    if returned == ReturnReason::Moved {
        format!("moved to the background by the user after {took}")
    } else {
        format!("still running after {took}")
    }
}
