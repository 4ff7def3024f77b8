//! The dialect opta: `bg_start`, `bg_status`, `bg_output`, `bg_kill`. Replies are lines of text.

use meanwhile::engine::{ReadFrom, StreamChoice};
use meanwhile::{Error, Task, TaskFilter};
use mw_model::{Status, clipped, signal_number};
use serde_json::{Value, json};

use super::{Dialect, DialectTools, failure, state};
use crate::call::{Arguments, CallContext, CallRefusal, Kind, Over, Parameter, Range, Reply, ToolDefinition};
use crate::operations::{OutputCall, ShellCall, list, output, start, stop_one};
use crate::text::{command, quoted};
use mw_model::seconds;

const OWN: Dialect = Dialect::Opta;
/// The maximum displayed length of a label.
const LABEL: usize = 200;
/// The reader whose position in the output `bg_output` stores.
const READER: &str = "bg_output";

pub(super) static TOOLS: DialectTools = DialectTools {
    definitions: &DEFINITIONS,
    refuse: |refusal, _, cx| refuse(refusal, cx),
    instructions: "Start long commands with bg_start and keep working; bg_status and bg_output show them, bg_kill ends one.",
    ..DialectTools::DEFAULT
};

static DEFINITIONS: [ToolDefinition; 4] = [
    ToolDefinition {
        tool: OWN.tool("bg_start"),
        title: "Start a process",
        about: "Start a shell command in the background and return a process ID. For long-running commands: tests, builds, dev servers.",
        parameters: &[
            Parameter::required("command", Kind::Command, "Shell command to execute"),
            Parameter::optional(
                "timeout",
                Kind::Number(Range::ANY),
                "Timeout in ms (default: 300000 = 5 min, 0 = no timeout)",
            ),
            Parameter::optional("label", Kind::Text, "Human-readable label, such as \"dev server\""),
        ],
        reply: "id: string, pid: integer|null, command: string, state: string, endsWithSession: boolean",
        run: bg_start,
        ..ToolDefinition::DEFAULT
    },
    ToolDefinition {
        tool: OWN.tool("bg_status"),
        title: "Status of processes",
        about: "Show state, PID, runtime and exit code of one background process, or of all.",
        parameters: &[Parameter::optional(
            "id",
            Kind::Text,
            "Process ID from bg_start; leave out to list all",
        )],
        reply: "processes: array",
        run: bg_status,
        ..ToolDefinition::DEFAULT
    },
    ToolDefinition {
        tool: OWN.tool("bg_output"),
        title: "Output of a process",
        about: "Get stdout and stderr of a background process; by default only output since the last read.",
        parameters: &[
            Parameter::required("id", Kind::Text, "Process ID from bg_start"),
            Parameter::optional("lines", Kind::Number(Range::ANY), "Lines from the end (default: 50)"),
            Parameter::optional(
                "stream",
                Kind::Word(&["stdout", "stderr", "both"]),
                "Which stream (default: both)",
            ),
            Parameter::optional(
                "since_last_read",
                Kind::Flag(None),
                "Only output since the last bg_output call (default: true)",
            ),
        ],
        reply: "stdout: string, stderr: string, truncated: boolean",
        run: bg_output,
        ..ToolDefinition::DEFAULT
    },
    ToolDefinition {
        tool: OWN.tool("bg_kill"),
        title: "Kill a process",
        // The dialect promises 5 s, which is the default of `kill.grace_ms`.
        about: "End a background process: SIGTERM, then SIGKILL after 5 s if it still runs.",
        parameters: &[
            Parameter::required("id", Kind::Text, "Process ID to kill"),
            Parameter::optional(
                "signal",
                Kind::Word(&["SIGTERM", "SIGKILL", "SIGINT"]),
                "Signal to send (default: SIGTERM)",
            ),
        ],
        reply: "id: string, killed: boolean, state: string",
        run: bg_kill,
        ..ToolDefinition::DEFAULT
    },
];

fn bg_start(arguments: &Arguments, cx: &CallContext<'_>) -> Result<Reply, CallRefusal> {
    let call = ShellCall {
        title: arguments.text("label").map(str::to_owned),
        run_timeout_ms: arguments.number("timeout"),
        ..ShellCall::script(arguments.required("command"), cx)
    };
    let task = start(&call, cx)?;
    let id = OWN.handle(&task);
    let cmd = quoted(&command(&task));
    let text = match (task.pid, task.queue_position) {
        // The dialect's source refuses a start at the limit. Queueing is a setting of the user.
        (None, Some(place)) => format!("Process queued: id={id} position={place} cmd={cmd}"),
        (pid, _) => {
            let pid = pid.map_or_else(|| "-".to_owned(), |pid| pid.to_string());
            format!("Process started: id={id} pid={pid} cmd={cmd}")
        }
    };
    let ends = cx.ends_with_session(&task);
    let data = json!({
        "id": id, "pid": task.pid, "command": command(&task), "state": state(&task, OWN), "endsWithSession": ends,
    });
    let begun = text.clone();
    Ok(Reply::new(text, data).starting(&task, move |end| Over {
        text: format!("{begun}\nIt has already ended (state={}), see below.", end.word),
        data: json!({"state": end.word}),
    }))
}

fn bg_status(arguments: &Arguments, cx: &CallContext<'_>) -> Result<Reply, CallRefusal> {
    let (tasks, total) = match arguments.text("id").filter(|id| !id.is_empty()) {
        Some(id) => (vec![cx.task(id)?], 1),
        None => {
            let room = |task: &Task| line(task).len() + entry(task).to_string().len();
            let listed = list(TaskFilter::new(cx.scope()), room, cx)?;
            (listed.tasks, listed.total)
        }
    };
    let mut lines: Vec<_> = tasks.iter().map(line).collect();
    let missing = total - tasks.len() as u64;
    if missing > 0 {
        lines.push(format!("({missing} older tasks not shown)"));
    }
    let text = if lines.is_empty() { "No background processes.".to_owned() } else { lines.join("\n") };
    Ok(Reply::new(text, json!({"processes": tasks.iter().map(entry).collect::<Vec<_>>()})))
}

fn line(task: &Task) -> String {
    let mut line = format!(
        "id={} state={} pid={} runtime={} cmd={}",
        OWN.handle(task),
        state(task, OWN),
        task.pid.map_or_else(|| "-".to_owned(), |pid| pid.to_string()),
        seconds(task.duration_ms.unwrap_or(0)),
        quoted(&command(task))
    );
    if task.queue_position.is_some() {
        line.push_str(" queued");
    }
    if let Some(label) = &task.description {
        line.push_str(&format!(" label={}", quoted(&clipped(label, LABEL))));
    }
    if let Some(code) = task.exit_code {
        line.push_str(&format!(" exit={code}"));
    }
    if let Some(signal) = &task.signal {
        line.push_str(&format!(" signal={signal}"));
    }
    if let Some(cause) = error_text(task) {
        line.push_str(&format!(" error={}", quoted(cause)));
    }
    line
}

/// Returns details that the state alone does not express.
fn error_text(task: &Task) -> Option<&str> {
    let says_little = task.status == Status::Lost || (task.status == Status::Failed && task.pid.is_none());
    task.cause.as_deref().filter(|_| says_little)
}

fn entry(task: &Task) -> Value {
    let ms = |at: mw_model::Timestamp| at.as_micros() / 1000;
    json!({
        "id": OWN.handle(task),
        "pid": task.pid,
        "command": command(task),
        "label": task.description.as_deref().map(|label| clipped(label, LABEL)),
        "state": state(task, OWN),
        "exitCode": task.exit_code,
        "startedAt": ms(task.started_at.unwrap_or(task.created_at)),
        "endedAt": task.ended_at.map(ms),
        "runtimeMs": task.duration_ms.unwrap_or(0),
        "error": error_text(task),
    })
}

fn bg_output(arguments: &Arguments, cx: &CallContext<'_>) -> Result<Reply, CallRefusal> {
    let wanted = arguments.text("stream").unwrap_or("both");
    let news_only = arguments.flag("since_last_read") != Some(false);
    let parts = if wanted == "both" { 2 } else { 1 };
    let lines = arguments.number("lines").unwrap_or(50).max(1);
    let mut data = json!({"stdout": "", "stderr": "", "truncated": false});
    let mut text = String::new();
    for (name, stream) in [("stdout", StreamChoice::Stdout), ("stderr", StreamChoice::Stderr)] {
        if wanted != "both" && wanted != name {
            continue;
        }
        let reader = cx.reader(READER);
        let (from, max_lines) = if news_only {
            (ReadFrom::Cursor(reader.clone()), lines)
        } else {
            (ReadFrom::TailLines(lines), 0)
        };
        let task = arguments.required("id").to_owned();
        let within = cx.call_settings.stream_bytes;
        let read = output(OutputCall { task, stream, from, max_lines, within, parts }, cx)?;
        if !news_only {
            // Every read moves the stored position.
            cx.runtime.reader().move_cursor(&read.task.id, &reader, stream, read.next_offset)?;
        }
        let shown = read.text.trim_end_matches('\n');
        data[name] = shown.into();
        text.push_str(&format!("[{name}]\n"));
        if read.passed_over > 0 {
            text.push_str(&format!("({} older bytes of {name} omitted)\n", read.passed_over));
        }
        text.push_str(shown);
        if !shown.is_empty() {
            text.push('\n');
        }
        if read.left > 0 {
            text.push_str(&format!("({} more bytes of {name}: call again)\n", read.left));
        }
        // Output before the last read was already returned, but dropped output never was.
        let misses = read.passed_over > 0 || (read.misses && !news_only) || read.task.dropped_bytes > 0;
        if read.left > 0 || misses {
            data["truncated"] = true.into();
        }
    }
    // The reply contains only output. bg_status or a notification reports the end.
    Ok(Reply::new(text, data))
}

fn bg_kill(arguments: &Arguments, cx: &CallContext<'_>) -> Result<Reply, CallRefusal> {
    let word = arguments.text("signal").unwrap_or("SIGTERM");
    let signal = signal_number(word).ok_or_else(|| CallRefusal::argument("signal", "is not a signal"))?;
    let one = stop_one(arguments.required("id"), signal, cx)?;
    let (handle, state) = (OWN.handle(&one.after), state(&one.after, OWN));
    let killed = !one.before.status.is_terminal();
    let text = if killed {
        format!("Process {handle} killed (was running for {})", seconds(one.after.duration_ms.unwrap_or(0)))
    } else {
        format!("Process {handle} is not running (state={state})")
    };
    let data = json!({"id": handle, "killed": killed, "state": state});
    Ok(Reply::new(text, data).reporting(one.reported()))
}

fn refuse(refusal: &CallRefusal, cx: &CallContext<'_>) -> Reply {
    let text = match refusal {
        CallRefusal::Engine(Error::NotFound(id)) => {
            format!("Error: Process not found: Process \"{id}\" not found")
        }
        CallRefusal::Engine(Error::AtCapacity { limit }) => {
            let list = cx.live_handles();
            format!(
                "Error: Max concurrent processes ({limit}) reached. Kill a process first. Use bg_kill; running: {list}."
            )
        }
        other => format!("Error: {other}"),
    };
    failure(text)
}
