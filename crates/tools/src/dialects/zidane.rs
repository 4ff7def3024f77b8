//! The dialect zidane: a flag of `shell`, and `shell_kill`. Replies are lines of text.

use meanwhile::{Error, Task};
use mw_model::TaskKind;
use mw_model::signal::SIGTERM;
use serde_json::json;

use super::{Dialect, DialectTools, failure, state};
use crate::call::{
    Arguments, CallContext, CallRefusal, Kind, Offered, Over, Parameter, Reply, ToolDefinition,
};
use crate::operations::{ReturnReason, ShellCall, run, start, stop_one};
use mw_model::{millis, seconds};

const OWN: Dialect = Dialect::Zidane;
const LOST: &str = "is lost: its outcome is unknown";

pub(super) static TOOLS: DialectTools = DialectTools {
    definitions: &DEFINITIONS,
    refuse: |refusal, _, cx| refuse(refusal, cx),
    instructions: "Start long commands with shell run_in_background and keep working; shell_kill ends one.",
    ..DialectTools::DEFAULT
};

static DEFINITIONS: [ToolDefinition; 2] = [
    ToolDefinition {
        tool: OWN.tool("shell"),
        title: "Run a command",
        about: "Run a shell command and return its output and exit code.",
        about_background: "Set run_in_background for commands that take a long time: the call returns at once with a task id and the path of the log, and a <task-notification> follows when the command ends. Read the log with read_file. Do not sleep and do not read the log in a loop; wait for the notification. Standard input is closed.",
        parameters: &[
            Parameter::required("command", Kind::Command, "The command"),
            Parameter::optional(
                "run_in_background",
                Kind::Flag(Some(false)),
                "Return at once; a notification follows when it ends",
            )
            .with_background(),
            Parameter::optional("cwd", Kind::Text, "Working directory"),
            Parameter::optional("env", Kind::Pairs, "Additional environment"),
        ],
        offered: Offered::Always,
        reply: "task_id: string, output_path: string, pid: integer|null, output: string, \
                exit_code: integer|null",
        run: shell,
        ..ToolDefinition::DEFAULT
    },
    ToolDefinition {
        tool: OWN.tool("shell_kill"),
        title: "Kill a background task",
        about: "End a background task and everything it started.",
        parameters: &[Parameter::required("task_id", Kind::Text, "Task id, such as bash_1")],
        reply: "task_id: string, status: string|null, exit_code: integer|null, signal: string|null, \
                output_path: string, duration_ms: integer|null",
        run: shell_kill,
        ..ToolDefinition::DEFAULT
    },
];

fn shell(arguments: &Arguments, cx: &CallContext<'_>) -> Result<Reply, CallRefusal> {
    let call = ShellCall {
        cwd: arguments.text("cwd").map(Into::into),
        env: arguments.pairs("env"),
        ..ShellCall::script(arguments.required("command"), cx)
    };
    if arguments.flag("run_in_background") == Some(true) {
        let task = start(&call, cx)?;
        return Ok(started(&task, cx));
    }
    let ran = run(&call, cx)?;
    if !ran.task.status.is_terminal() {
        let reply = started(&ran.task, cx);
        let took = seconds(millis(ran.took));
        let why = if ran.returned == ReturnReason::Moved {
            format!("The user moved the command to the background after {took}:")
        } else {
            format!(
                "The call reached its time limit after {took}, so the command continues in the background:"
            )
        };
        return Ok(ran.with_output_so_far(reply.prepend(&format!("{why}\n"))));
    }
    let code = exit_code(&ran.task);
    let mut text = ran.output.text.clone();
    if let ReturnReason::CutOff(limit) = ran.returned {
        let limit = seconds(millis(limit));
        text.push_str(&format!("\n[ended: the time limit of a call is {limit}]"));
    }
    if ran.output.left_out > 0 {
        text.push_str(&format!("\n[full output: {}]", ran.task.output_path));
    }
    if code != Some(0) {
        text.push_str(&format!("\n[exit code {}]", code_word(code)));
    }
    let data = json!({"output": ran.output.text, "exit_code": code});
    Ok(ran.told_by(Reply::new(text, data)))
}

fn started(task: &Task, cx: &CallContext<'_>) -> Reply {
    let log = log_of(task, cx);
    let id = OWN.handle(task);
    let (begun, state) = match task.pid {
        Some(pid) => (format!("Started {id} (pid {pid})."), "The task is running in the background."),
        None => (
            format!("Queued {id}: no slot is free; it starts when one becomes free."),
            "The task is not running yet.",
        ),
    };
    let ends = cx.end_in_words(task);
    let over =
        format!("{begun} Output: {log}\n\nIt has already ended; the <task-notification> below says how.");
    let text = format!(
        "{begun} Output: {log}\n\n{state} `read_file` on the output file shows its progress; a \
         <task-notification> follows when it ends. {ends}"
    );
    let data = json!({"task_id": id, "output_path": log, "pid": task.pid});
    Reply::new(text, data).starting(task, move |_| Over { text: over.clone(), data: json!({}) })
}

/// Returns the name of a task in this dialect. A task that another server of the session started is named by its id,
/// because its number there refers to another task here.
fn name(task: &Task, cx: &CallContext<'_>) -> String {
    if task.context.as_deref() == cx.task_context() { OWN.handle(task) } else { task.id.to_string() }
}

/// Returns the path of the log, whose name contains the task and the context.
fn log_of(task: &Task, cx: &CallContext<'_>) -> String {
    cx.runtime.reader().log_of(task).to_string_lossy().into_owned()
}

fn shell_kill(arguments: &Arguments, cx: &CallContext<'_>) -> Result<Reply, CallRefusal> {
    let id = arguments.required("task_id");
    // Subagents are not visible in this dialect.
    let task = cx.task(id)?;
    if task.kind != TaskKind::Shell {
        return Err(Error::NotFound(id.to_owned()).into());
    }
    let one = stop_one(task.id.as_str(), SIGTERM, cx)?;
    let (id, log, code) = (name(&one.after, cx), log_of(&one.after, cx), exit_code(&one.after));
    let exited = code_word(code);
    let (left, is_known) = (one.before.survivors, OWN.lists(one.after.status));
    let text = if one.before.status.is_terminal() && left > 0 {
        let (processes, still) = if left == 1 { ("process", "was") } else { ("processes", "were") };
        let now = match one.receipt.survivors.len() {
            0 => format!("{still} killed"),
            alive => format!("{still} sent SIGTERM; {alive} still alive"),
        };
        format!("{id} had already exited ({exited}); {left} {processes} left behind {now}. Output: {log}")
    } else if one.before.status.is_terminal() {
        let why = if is_known { format!("was not running (exited {exited})") } else { LOST.to_owned() };
        format!("{id} {why}. Output: {log}")
    } else if one.after.started_at.is_none() {
        format!("Killed {id} before it began. Output: {log}")
    } else {
        format!("Killed {id} (exited {exited}). Output: {log}")
    };
    let data = json!({
        "task_id": id,
        "status": is_known.then(|| state(&one.after, OWN)),
        "exit_code": code,
        "signal": one.after.signal,
        "output_path": log,
        "duration_ms": one.after.duration_ms,
    });
    Ok(Reply::new(text, data).reporting(one.reported()))
}

/// Returns the exit code in the form of a shell: 128 plus the signal for a task that was ended by one.
fn exit_code(task: &Task) -> Option<i32> {
    OWN.exit_code(task.cause_value()?)
}

fn code_word(code: Option<i32>) -> String {
    code.map_or("unknown".to_owned(), |code| code.to_string())
}

fn refuse(refusal: &CallRefusal, cx: &CallContext<'_>) -> Reply {
    // Queued tasks are not listed.
    let listed = |task: &Task| task.kind == TaskKind::Shell && OWN.lists(task.status);
    let live: Vec<_> = cx.live().into_iter().filter(listed).map(|task| name(&task, cx)).collect();
    let text = match refusal {
        CallRefusal::Engine(Error::NotFound(id)) if live.is_empty() => {
            format!("No task {id:?}. No tasks are running.")
        }
        CallRefusal::Engine(Error::NotFound(id)) => format!("No task {id:?}. Running: {}.", live.join(", ")),
        other => format!("{other}."),
    };
    failure(text)
}
