//! The tools of mycode and their replies.

use meanwhile::{Error, Task};
use mw_model::Status;
use mw_model::signal::SIGTERM;
use serde_json::{Map, Value, json};

use super::record::{full_output, name_file, record};
use crate::call::{
    Arguments, CallContext, CallRefusal, Kind, Offered, Over, Parameter, Range, Reply, ToolDefinition,
};
use crate::dialects::{Dialect, DialectTools, state};
use crate::operations::{
    AgentRequest, Excerpt, ForegroundRun, ReturnReason, ShellCall, WaitCall, await_answer, delegate, run,
    start, stop_one, wait,
};
use crate::screens::mycode::{
    self, completed, error_text, exit_code, output_file, shown_word, start_panel, status,
};
use mw_model::{millis, whole_duration};

pub(super) const OWN: Dialect = Dialect::Mycode;
/// The usual subagent types of this tool. The default agent handles them.
const USUAL_TYPES: [&str; 2] = ["Bash", "general-purpose"];

pub(in crate::dialects) static TOOLS: DialectTools = DialectTools {
    definitions: &DEFINITIONS,
    refuse: |refusal, given, _| refuse(refusal, given),
    refuse_unopened: |refusal| refuse(refusal, &Map::new()),
    replies_with_objects: true,
    instructions: "Start long commands with Bash run_in_background and keep working; TaskOutput waits for a task and returns its output.",
    list_hint: "Use TaskOutput tool to get task output.",
    ..DialectTools::DEFAULT
};

static DEFINITIONS: [ToolDefinition; 4] = [
    ToolDefinition {
        tool: OWN.tool("Bash"),
        title: "Run a command",
        about: "Run a command with bash and return its output and exit code.",
        about_background: "With run_in_background it returns at once with a task id and the output file; use TaskOutput to get the result.",
        parameters: &[
            Parameter::required("command", Kind::Command, "The command"),
            Parameter::optional("description", Kind::Text, "Purpose of the command"),
            Parameter::optional("timeout", Kind::Number(Range::ANY), "Timeout in milliseconds"),
            Parameter::optional("run_in_background", Kind::Flag(Some(false)), "Return at once")
                .with_background(),
        ],
        offered: Offered::Always,
        reply: "task_id: string, output_file: string, status: string, output: string, \
                exit_code: integer, error: string, ends_with_session: boolean",
        run: bash,
        ..ToolDefinition::DEFAULT
    },
    ToolDefinition {
        tool: OWN.tool("Task"),
        title: "Ask a subagent",
        about: "Run a subagent with a prompt and return its answer.",
        about_background: "With run_in_background it returns at once with a task id and the output file; use TaskOutput to get the answer.",
        parameters: &[
            Parameter::required("description", Kind::Text, "Purpose of the task"),
            Parameter::required("prompt", Kind::Text, "What it should do"),
            Parameter::optional("subagent_type", Kind::Text, "The agent; Bash is the default"),
            Parameter::optional("run_in_background", Kind::Flag(Some(false)), "Return at once")
                .with_background(),
        ],
        reply: "task_id: string, output_file: string, status: string, output: string, error: string, \
                ends_with_session: boolean",
        run: task,
        ..ToolDefinition::DEFAULT
    },
    ToolDefinition {
        tool: OWN.tool("TaskOutput"),
        waits: true,
        title: "Get a task's output",
        about: "Get status, output and exit code of a background task.\n\nParameters:\n- task_id: the task's id\n- block: wait until it ends (default true)\n- timeout: maximum wait in milliseconds (default {wait}, at most 600000)\n\nUse block=false for a quick check. The /tasks command lists all tasks.",
        parameters: &[
            Parameter::required("task_id", Kind::Text, ""),
            Parameter::optional("block", Kind::Flag(Some(true)), ""),
            Parameter::optional("timeout", Kind::Wait { most: Some(600_000), shown: "number" }, ""),
        ],
        reply: "success: boolean, task_id: string, status: string, output: string, \
                exit_code: integer, error: string, elapsed_ms: integer, truncated: boolean, \
                timed_out: boolean, task: object",
        run: task_output,
        ..ToolDefinition::DEFAULT
    },
    ToolDefinition {
        tool: OWN.tool("KillShell"),
        title: "Kill a task",
        about: "Kill a background task and everything it started.",
        parameters: &[Parameter::required("shell_id", Kind::Text, "The task's id")],
        reply: "success: boolean, task_id: string, status: string, error: string",
        run: kill_shell,
        ..ToolDefinition::DEFAULT
    },
];

fn bash(arguments: &Arguments, cx: &CallContext<'_>) -> Result<Reply, CallRefusal> {
    let call = ShellCall {
        title: arguments.text("description").map(str::to_owned),
        run_timeout_ms: arguments.number("timeout"),
        ..ShellCall::script(arguments.required("command"), cx)
    };
    if arguments.flag("run_in_background") == Some(true) {
        return Ok(started(&start(&call, cx)?, cx));
    }
    let ran = run(&call, cx)?;
    if !ran.task.status.is_terminal() {
        return Ok(goes_on(&ran, cx));
    }
    let code = exit_code(&ran.task);
    let mut data = json!({"output": ran.output.text, "exit_code": code});
    let mut text = ran.output.text.clone();
    text.push_str(&full_output(ran.output.left_out, &ran.task, cx));
    if let ReturnReason::CutOff(limit) = ran.returned {
        let why = format!("Ended: the time limit of a call is {}.", whole_duration(millis(limit)));
        text.push_str(&format!("\n{why}"));
        data["error"] = why.into();
    }
    if code != 0 {
        text.push_str(&format!("\nExit code: {code}"));
    }
    if let Some(error) = error_text(&ran.task) {
        text.push_str(&format!("\nError: {error}"));
        data["error"] = error.into();
    }
    Ok(ran.told_by(Reply::new(text, data)))
}

/// Creates the reply to a call that could not wait for the end: the reason, the elapsed time, and the output so far.
fn goes_on(ran: &ForegroundRun, cx: &CallContext<'_>) -> Reply {
    let took = whole_duration(millis(ran.took));
    let why = if ran.returned == ReturnReason::Moved {
        format!("Moved to the background by the user after {took}.")
    } else {
        format!("Still running after {took}; it continues in the background.")
    };
    ran.with_output_so_far(started(&ran.task, cx).prepend(&format!("{why}\n\n")))
}

fn task(arguments: &Arguments, cx: &CallContext<'_>) -> Result<Reply, CallRefusal> {
    let wanted = AgentRequest {
        agent: arguments.text("subagent_type").and_then(|kind| agent_of(kind, cx)),
        prompt: arguments.required("prompt").to_owned(),
        title: arguments.text("description").map(str::to_owned),
        ..AgentRequest::default()
    };
    let task = delegate(wanted, cx)?;
    if arguments.flag("run_in_background") == Some(true) {
        return Ok(started(&cx.task(task.id.as_str())?, cx));
    }
    let ran = await_answer(&task, cx)?;
    if !ran.task.status.is_terminal() {
        return Ok(goes_on(&ran, cx));
    }
    let ForegroundRun { task, output, .. } = ran;
    let mut data = json!({"task_id": task.id, "status": state(&task, OWN), "output": output.text});
    name_file(&mut data, output_file(&task, cx.runtime));
    let failed = task.status != Status::Completed;
    if failed {
        data["error"] = error_text(&task).or_else(|| task.cause.clone()).unwrap_or_default().into();
    }
    let mut text = output.text;
    text.push_str(&full_output(output.left_out, &task, cx));
    Ok(Reply { failed, ..Reply::new(text, data) }.reporting([task.id]))
}

/// Returns the agent of a type, or nothing for the default agent.
fn agent_of(kind: &str, cx: &CallContext<'_>) -> Option<String> {
    let is_known = cx.call_settings.agents.as_ref().is_some_and(|agents| agents.registry.get(kind).is_some());
    let is_usual = USUAL_TYPES.iter().any(|usual| usual.eq_ignore_ascii_case(kind));
    (is_known || !is_usual).then(|| kind.to_owned())
}

fn started(task: &Task, cx: &CallContext<'_>) -> Reply {
    let file = output_file(task, cx.runtime);
    let text = mycode::started(task, file.as_deref());
    let ends = cx.ends_with_session(task);
    let mut data = json!({"task_id": task.id, "status": state(task, OWN), "ends_with_session": ends});
    name_file(&mut data, file.clone());
    let begun = task.clone();
    Reply::new(text, data).starting(task, move |end| {
        let panel = start_panel(&begun, shown_word(end.word), file.as_deref());
        let text = format!("{}\n\nIt has already ended, see below.", panel.draw());
        Over { text, data: json!({"status": end.word}) }
    })
}

fn task_output(arguments: &Arguments, cx: &CallContext<'_>) -> Result<Reply, CallRefusal> {
    let task = cx.task(arguments.required("task_id"))?;
    let mut timed_out = false;
    if arguments.flag("block") != Some(false) {
        let timeout = cx.wait(arguments.number("timeout"));
        timed_out = wait(WaitCall::exit(vec![task.id.to_string()], timeout), cx)?.timed_out;
    }
    let task = cx.task(task.id.as_str())?;
    let output = Excerpt::of(&task, cx)?;
    let over = task.status.is_terminal();
    let panel = if over { completed(&task, &output.text) } else { status(&task, &output.text) };
    let mut text = panel.draw();
    if timed_out {
        text.push_str("\nWait timed out; the task continues.");
    }
    if !output.text.is_empty() {
        text.push_str(&format!("\n\n{}", output.text.trim_end_matches('\n')));
    }
    text.push_str(&full_output(output.left_out, &task, cx));
    let mut data = json!({
        "success": true,
        "task_id": task.id,
        "status": state(&task, OWN),
        "output": output.text,
        "elapsed_ms": task.duration_ms.unwrap_or(0),
        "truncated": output.left_out > 0 || task.dropped_bytes > 0,
        "timed_out": timed_out,
        "task": record(&task, cx),
    });
    if over {
        data["exit_code"] = exit_code(&task).into();
    }
    if let Some(error) = error_text(&task) {
        data["error"] = error.into();
    }
    Ok(Reply::new(text, data).reporting(over.then(|| task.id.clone())))
}

/// Kills a task. Fails if the task has already ended.
fn kill_shell(arguments: &Arguments, cx: &CallContext<'_>) -> Result<Reply, CallRefusal> {
    let one = stop_one(arguments.required("shell_id"), SIGTERM, cx)?;
    let state = state(&one.after, OWN);
    let mut data = json!({"success": true, "task_id": one.after.id, "status": state});
    if one.before.status.is_terminal() {
        let error = format!("Task {} is not running (status: {state})", one.after.id);
        data["success"] = false.into();
        data["error"] = error.clone().into();
        return Ok(Reply { failed: true, ..Reply::new(error, data) }.reporting(one.reported()));
    }
    Ok(Reply::new(format!("Task {} {state}", one.after.id), data).reporting(one.reported()))
}

/// Refuses a call, and names its task.
fn refuse(refusal: &CallRefusal, given: &Map<String, Value>) -> Reply {
    let named = || ["task_id", "shell_id"].iter().find_map(|name| given.get(*name)?.as_str());
    let (id, error) = match refusal {
        CallRefusal::Engine(Error::NotFound(id)) => (id.clone(), "Task not found".to_owned()),
        other => (named().unwrap_or_default().to_owned(), other.to_string()),
    };
    let data: Value = json!({"success": false, "task_id": id, "status": "error", "error": error});
    Reply::failure(error, data)
}
