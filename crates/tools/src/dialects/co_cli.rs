//! The dialect co-cli: four tools whose replies are objects with a `display` for people. Commands are split into words
//! as a shell does, and executed without a shell.

use meanwhile::engine::{ReadFrom, StreamChoice};
use meanwhile::{Error, Task, TaskFilter};
use mw_model::signal::SIGTERM;
use mw_model::{CommandSpec, Status};
use serde_json::{Value, json};

use super::{Dialect, DialectTools, state};
use crate::call::{Arguments, CallContext, CallRefusal, Kind, Over, Parameter, Reply, ToolDefinition};
use crate::operations::{OutputCall, ShellCall, list, output, start, stop_one};
use crate::screens::Layout;
use crate::screens::co_cli::{begun, progress, table};
use crate::text::{dated, title};
use mw_model::whole_duration;

const OWN: Dialect = Dialect::CoCli;
/// The number of output lines in a status.
const LINES: u64 = 20;
/// The room that a row of the list takes, without the description.
const ROW: usize = 80;

pub(super) static TOOLS: DialectTools = DialectTools {
    definitions: &DEFINITIONS,
    refuse: |refusal, _, _| refuse(refusal),
    refuse_unopened: refuse,
    command: |text, _| words(text),
    replies_with_objects: true,
    instructions: "Before you start something long, say how long it will take and ask: Run in background? [y/n]. Start it with start_background_task and keep working; check_task_status shows a task, cancel_background_task ends it.",
    layout: Layout::Table,
    ..DialectTools::DEFAULT
};

static DEFINITIONS: [ToolDefinition; 4] = [
    ToolDefinition {
        tool: OWN.tool("start_background_task"),
        title: "Start a background task",
        about: "Start a long-running command in the background. The command is executed without a shell unless `shell` is set. Example: command \"uv run pytest\", description \"Run the tests\".",
        parameters: &[
            Parameter::required("command", Kind::Command, "The command, such as \"uv run pytest\""),
            Parameter::required("description", Kind::Text, "What it does, for the user"),
            Parameter::optional(
                "working_directory",
                Kind::Text,
                "Working directory (default: the current directory)",
            ),
            Parameter::optional("shell", Kind::Flag(Some(false)), "Run it with a shell"),
        ],
        reply: "task_id: string, status: string, display: string, ends_with_session: boolean",
        run: start_background_task,
        ..ToolDefinition::DEFAULT
    },
    ToolDefinition {
        tool: OWN.tool("check_task_status"),
        title: "Check a task",
        about: "Check status, duration, exit code and last output lines of a background task. Never blocks.",
        parameters: &[
            Parameter::required("task_id", Kind::Text, ""),
            Parameter::optional("include_output", Kind::Flag(Some(true)), "The last 20 lines"),
        ],
        reply: "task_id: string, status: string, duration_seconds: number|null, \
                duration: number|null, exit_code: integer|null, output: string, \
                progress: object|null, display: string",
        run: check_task_status,
        ..ToolDefinition::DEFAULT
    },
    ToolDefinition {
        tool: OWN.tool("cancel_background_task"),
        title: "Cancel a task",
        about: "Cancel a running background task and everything it started.",
        parameters: &[Parameter::required("task_id", Kind::Text, "")],
        reply: "task_id: string, status: string, display: string",
        run: cancel_background_task,
        ..ToolDefinition::DEFAULT
    },
    ToolDefinition {
        tool: OWN.tool("list_background_tasks"),
        title: "List tasks",
        about: "List background tasks, newest first.",
        parameters: &[Parameter::optional(
            "status_filter",
            Kind::Word(&["pending", "running", "completed", "failed", "cancelled"]),
            "",
        )],
        reply: "tasks: array, count: integer, display: string",
        run: list_background_tasks,
        ..ToolDefinition::DEFAULT
    },
];

fn start_background_task(arguments: &Arguments, cx: &CallContext<'_>) -> Result<Reply, CallRefusal> {
    let command = arguments.required("command");
    let command = if arguments.flag("shell") == Some(true) {
        CommandSpec::Shell { program: cx.call_settings.shell.clone(), script: command.into() }
    } else {
        (TOOLS.command)(command, &cx.call_settings.shell)?
    };
    let call = ShellCall {
        cwd: arguments.text("working_directory").map(Into::into),
        title: arguments.text("description").map(str::to_owned),
        ..ShellCall::of(command)
    };
    let task = start(&call, cx)?;
    let id = dated(&task);
    let begun = format!("{}: {}", begun(&task, &id), title(&task));
    let check = format!("Check status: /status {id}");
    let display = format!("{begun}\n{check}");
    let ends = cx.ends_with_session(&task);
    let data = json!({
        "task_id": id, "status": state(&task, OWN), "display": display, "ends_with_session": ends,
    });
    Ok(shown(data).starting(&task, move |end| {
        let text = format!("{begun}\nIt has already ended ({}), see below.\n{check}", end.word);
        Over { data: json!({"status": end.word, "display": text}), text }
    }))
}

/// Splits a command into words as a shell would.
fn words(command: &str) -> Result<CommandSpec, CallRefusal> {
    let words = shlex::split(command)
        .ok_or_else(|| CallRefusal::argument("command", "has an unclosed quote, or ends in a backslash"))?;
    if words.is_empty() {
        return Err(CallRefusal::argument("command", "is empty"));
    }
    Ok(CommandSpec::Argv(words.into_iter().map(Into::into).collect()))
}

/// Creates a reply whose text is its `display`.
fn shown(data: Value) -> Reply {
    let text = data["display"].as_str().unwrap_or_default().to_owned();
    Reply::new(text, data)
}

fn check_task_status(arguments: &Arguments, cx: &CallContext<'_>) -> Result<Reply, CallRefusal> {
    let with_output = arguments.flag("include_output") != Some(false);
    let handle = arguments.required("task_id");
    let read = output(OutputCall::new(handle, StreamChoice::Both, ReadFrom::TailLines(LINES)), cx)?;
    let task = &read.task;
    let (id, lines) = (dated(task), read.text.trim_end_matches('\n'));
    let mut display = format!("Task: {id}\nStatus: {}", shown_state(task));
    if let Some(progress) = progress(task) {
        display.push_str(&format!("\n{progress}"));
    }
    if let Some(ms) = task.duration_ms {
        display.push_str(&format!("\nDuration: {}", whole_duration(ms)));
    }
    if let Some(code) = task.exit_code {
        display.push_str(&format!("\nExit code: {code}"));
    }
    if with_output && !lines.is_empty() {
        display.push_str(&format!("\n\nRecent output:\n{lines}"));
    }
    // A task that never started has no log.
    if task.started_at.is_some() {
        display.push_str(&format!("\n\nFull output: {}", cx.runtime.reader().log_of(task).display()));
    }
    let duration = duration(task);
    let reply = shown(json!({
        "task_id": id,
        "status": state(task, OWN),
        "duration_seconds": duration,
        "duration": duration,
        "exit_code": task.exit_code,
        "output": if with_output { lines } else { "" },
        "span_id": task.span_id,
        "progress": task.progress,
        "display": display,
    }));
    let reported = (task.status.is_terminal() && with_output).then(|| task.id.clone());
    Ok(reply.reporting(reported))
}

/// Returns the dialect's word for the state, and the details that the word does not express.
fn shown_state(task: &Task) -> String {
    let word = state(task, OWN);
    match (task.status, &task.cause) {
        (Status::Cancelling, _) => "cancelling".to_owned(),
        (Status::TimedOut | Status::Lost, Some(cause)) => format!("{word} ({cause})"),
        _ => word.to_owned(),
    }
}

fn duration(task: &Task) -> Option<f64> {
    task.duration_ms.map(|ms| ms as f64 / 1000.0)
}

fn cancel_background_task(arguments: &Arguments, cx: &CallContext<'_>) -> Result<Reply, CallRefusal> {
    let before = cx.task(arguments.required("task_id"))?;
    let id = dated(&before);
    if before.status.is_terminal() {
        let display = format!("Task {id} is not running (status: {}).", state(&before, OWN));
        let data = json!({"task_id": id, "status": state(&before, OWN), "display": display});
        return Ok(Reply { failed: true, ..shown(data) }.reporting([before.id]));
    }
    let stopped = stop_one(before.id.as_str(), SIGTERM, cx)?;
    let after = &stopped.after;
    let (status, failed) = (state(after, OWN), after.status != Status::Cancelled);
    let display = match after.status {
        Status::Cancelled => format!("Task {id} cancelled."),
        // The task ended before the signal.
        _ if after.status.is_terminal() => format!("Task {id} is not running (status: {status})."),
        _ => format!("Task {id} was asked to end but is still running (status: {status})."),
    };
    let data = json!({"task_id": id, "status": status, "display": display});
    Ok(Reply { failed, ..shown(data) }.reporting(stopped.reported()))
}

fn list_background_tasks(arguments: &Arguments, cx: &CallContext<'_>) -> Result<Reply, CallRefusal> {
    let wanted = arguments.text("status_filter");
    let statuses =
        Status::ALL.into_iter().filter(|status| wanted.is_some_and(|word| OWN.word(*status, None) == word));
    let filter = TaskFilter { statuses: statuses.collect(), ..TaskFilter::new(cx.scope()) };
    let room = |task: &Task| title(task).len() + entry(task).to_string().len() + ROW;
    let listed = list(filter, room, cx)?;
    let missing = listed.missing();
    let mut tasks = listed.tasks;
    tasks.sort_by_key(|task| std::cmp::Reverse(task.created_at));
    let mut display = table(&tasks, OWN);
    if missing > 0 {
        display.push_str(&format!("\n({missing} older tasks not shown)"));
    }
    let entries: Vec<_> = tasks.iter().map(entry).collect();
    Ok(shown(json!({"tasks": entries, "count": listed.total, "display": display})))
}

fn entry(task: &Task) -> Value {
    let duration = duration(task);
    json!({
        "task_id": dated(task),
        "status": state(task, OWN),
        "duration": duration,
        "duration_seconds": duration,
        "description": title(task),
        "exit_code": task.exit_code,
        "started_at": task.started_at,
    })
}

fn refuse(refusal: &CallRefusal) -> Reply {
    let display = match refusal {
        CallRefusal::Engine(Error::NotFound(id)) => format!("Task {id} not found."),
        other => format!("{other}."),
    };
    Reply::failure(display.clone(), json!({"error": display, "display": display}))
}
