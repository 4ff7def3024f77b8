//! The definitions of the canonical tools.

use meanwhile::Error;
use serde_json::json;

use super::{agents, shell, tasks};
use crate::call::{CallContext, CallRefusal, Kind, Offered, Parameter, Range, Reply, ToolDefinition};
use crate::dialects::{Dialect, DialectTools};

const OWN: Dialect = Dialect::Canonical;

/// The fields of the reply about an agent task.
const ANSWER: &str = "task_id: string, status: string, answer: string|null, output: string, output_path: string, \
     ends_with_session: boolean";

pub(in crate::dialects) static TOOLS: DialectTools = DialectTools {
    definitions: &DEFINITIONS,
    refuse: |refusal, _, cx| refuse(refusal, cx),
    refuse_unopened: |refusal| failure(refusal, refusal.to_string()),
    instructions: "Start long commands with shell run_in_background and keep working. Use task_wait only if you have nothing else to do; stop tasks with task_stop.",
    ..DialectTools::DEFAULT
};

static DEFINITIONS: [ToolDefinition; 9] = [
    ToolDefinition {
        tool: OWN.tool("shell"),
        title: "Run a command",
        about: "Run a shell command and return its output and exit code. The middle of long output is omitted; the reply names the full log.",
        about_background: "With run_in_background the call returns at once and you get a notification when the command ends: keep working, never sleep or poll. Use task_wait only if you have nothing else to do.",
        parameters: &[
            Parameter::required("command", Kind::Command, ""),
            Parameter::optional("run_in_background", Kind::Flag(None), "Return at once").with_background(),
            Parameter::optional("timeout", Kind::Whole(Range::ANY), "Kill it after this many ms"),
            Parameter::optional("description", Kind::Text, "5-10 words for the user"),
            Parameter::optional(
                "expected",
                Kind::Text,
                "Estimate to show the user, such as \"~5 min\" or \"247 files\"",
            ),
            Parameter::optional("cwd", Kind::Text, ""),
            Parameter::optional("env", Kind::Pairs, ""),
            Parameter::optional("pty", Kind::Flag(None), "Run it in a terminal, for task_input")
                .with_background(),
        ],
        offered: Offered::Always,
        reply: "task_id: string, status: string, exit_code: integer|null, pid: integer|null, \
                output: string, left_out_bytes: integer, output_path: string, \
                ends_with_session: boolean",
        run: shell::shell,
        ..ToolDefinition::DEFAULT
    },
    ToolDefinition {
        tool: OWN.tool("task_output"),
        waits: true,
        title: "Read a task's output",
        about: "Status and output of a task: new output since your last call, the last `lines`, output from `offset`, or lines that match the regex `pattern`.",
        parameters: &[
            Parameter::required("task_id", Kind::Text, ""),
            Parameter::optional("block", Kind::Flag(None), "Wait until it ends"),
            Parameter::optional("timeout", Kind::Wait { most: None, shown: "integer" }, "Maximum wait in ms"),
            Parameter::optional("lines", Kind::Whole(Range::ANY), ""),
            Parameter::optional("offset", Kind::Whole(Range::ANY), ""),
            Parameter::optional("pattern", Kind::Text, ""),
            Parameter::optional("stream", Kind::Word(&["both", "stdout", "stderr"]), ""),
        ],
        reply: "task_id: string, status: string, exit_code: integer|null, output: string, \
                next_offset: integer|null, more: boolean, timed_out: boolean",
        run: tasks::task_output,
        ..ToolDefinition::DEFAULT
    },
    ToolDefinition {
        tool: OWN.tool("task_wait"),
        waits: true,
        title: "Wait for tasks",
        about: "Wait until all (or any) of the tasks end, print a line that matches `pattern`, or open `port`, and return their outcome. Without task_ids: all your running tasks. A timeout leaves the tasks running.",
        parameters: &[
            Parameter::optional("task_ids", Kind::Texts, ""),
            Parameter::optional("batch_id", Kind::Text, ""),
            Parameter::optional("any", Kind::Flag(None), "Return when one task meets the condition"),
            Parameter::optional("pattern", Kind::Text, ""),
            Parameter::optional("port", Kind::Whole(Range { least: 1, most: Some(65_535) }), ""),
            Parameter::optional("timeout", Kind::Whole(Range::ANY), "ms"),
        ],
        reply: "tasks: array, met: array, not_found: array, timed_out: boolean",
        run: tasks::task_wait,
        ..ToolDefinition::DEFAULT
    },
    ToolDefinition {
        tool: OWN.tool("task_stop"),
        title: "Stop tasks",
        about: "Stop tasks and everything they started: SIGTERM, then SIGKILL after a grace period (kill.grace_ms, default 5 s).",
        parameters: &[
            Parameter::optional("task_ids", Kind::Texts, ""),
            Parameter::optional("batch_id", Kind::Text, ""),
            Parameter::optional(
                "signal",
                Kind::Text,
                "Default TERM; TERM, INT and KILL stop the task, other signals are only delivered",
            ),
        ],
        reply: "tasks: array",
        run: tasks::task_stop,
        ..ToolDefinition::DEFAULT
    },
    ToolDefinition {
        tool: OWN.tool("task_list"),
        title: "List tasks",
        about: "List this session's tasks, live tasks first.",
        parameters: &[
            Parameter::optional(
                "status",
                Kind::Word(&["pending", "running", "completed", "failed", "cancelled", "timed_out", "lost"]),
                "",
            ),
            Parameter::optional("batch_id", Kind::Text, ""),
        ],
        reply: "tasks: array, total: integer",
        run: tasks::task_list,
        ..ToolDefinition::DEFAULT
    },
    ToolDefinition {
        tool: OWN.tool("agent"),
        title: "Ask another agent",
        about: "Ask another agent, which knows nothing of this conversation, and return its answer.",
        about_background: "With run_in_background, you get the answer in a notification.",
        parameters: &[
            Parameter::required("prompt", Kind::Text, ""),
            Parameter::optional("agent", Kind::Text, "The agent; default if omitted"),
            Parameter::optional("run_in_background", Kind::Flag(None), "").with_background(),
            Parameter::optional("description", Kind::Text, ""),
            Parameter::optional("cwd", Kind::Text, ""),
            Parameter::optional("batch_id", Kind::Text, ""),
            Parameter::optional("worktree", Kind::Flag(None), "Use a separate git worktree"),
        ],
        reply: ANSWER,
        run: agents::agent,
        ..ToolDefinition::DEFAULT
    },
    ToolDefinition {
        tool: OWN.tool("task_resume"),
        title: "Send an agent a follow-up",
        about: "Send a message to an agent that has answered; it remembers the conversation. You get the answer in a notification.",
        parameters: &[
            Parameter::required("task_id", Kind::Text, ""),
            Parameter::required("message", Kind::Text, ""),
        ],
        reply: ANSWER,
        run: agents::task_resume,
        ..ToolDefinition::DEFAULT
    },
    ToolDefinition {
        tool: OWN.tool("task_input"),
        title: "Type into a task",
        about: "Send input to a task that was started with pty.",
        parameters: &[
            Parameter::required("task_id", Kind::Text, ""),
            Parameter::required("text", Kind::Text, ""),
            Parameter::optional("enter", Kind::Flag(Some(true)), "Press Enter after it"),
        ],
        reply: "bytes: integer",
        run: tasks::task_input,
        ..ToolDefinition::DEFAULT
    },
    ToolDefinition {
        tool: OWN.tool("task_clear"),
        title: "Remove finished tasks",
        about: "Remove finished tasks and their logs: the given ones, or all.",
        parameters: &[
            Parameter::optional("task_ids", Kind::Texts, ""),
            Parameter::optional("batch_id", Kind::Text, ""),
        ],
        reply: "removed: array, kept: array",
        run: tasks::task_clear,
        ..ToolDefinition::DEFAULT
    },
];

/// Refuses a call, and names the live tasks if that helps.
fn refuse(refusal: &CallRefusal, cx: &CallContext<'_>) -> Reply {
    let rest = match refusal {
        CallRefusal::Engine(Error::NotFound(_)) => match cx.live_handles() {
            none if none.is_empty() => " There are no live tasks.".to_owned(),
            live => format!(" Live: {live}."),
        },
        CallRefusal::Engine(Error::AtCapacity { .. }) => format!(" End one first: {}.", cx.live_handles()),
        CallRefusal::Engine(_) | CallRefusal::Argument { .. } | CallRefusal::NoBackground { .. } => {
            String::new()
        }
    };
    failure(refusal, format!("{refusal}.{rest}"))
}

fn failure(refusal: &CallRefusal, text: String) -> Reply {
    let data = json!({"error": {"code": refusal.code(), "message": text}});
    Reply::failure(text, data)
}
