//! The canonical dialect: names and parameters that models already know, and short replies.

mod agents;
mod shell;
mod tasks;
mod words;

pub use shell::ran;

use serde_json::json;

use super::{Description, Dialect};
use crate::call::{CallContext, Kind, Offered, Parameter, Range, Refusal, Reply, ToolDefinition};

const OWN: Dialect = Dialect::Canonical;

/// The fields of the reply about an agent task.
const ANSWER: &str = "task_id: string, status: string, answer: string|null, output: string, output_path: string, \
     ends_with_session: boolean";

pub(super) static DESCRIPTION: Description = Description {
    definitions: &TOOLS,
    refuse: |refusal, _, cx| refuse(refusal, cx),
    refuse_unopened: |refusal| failure(refusal, refusal.to_string()),
    instructions: "Start long commands with shell run_in_background and keep working. Use task_wait only if you have nothing else to do; end tasks with task_stop.",
    ..Description::DEFAULT
};

static TOOLS: [ToolDefinition; 9] = [
    ToolDefinition {
        tool: OWN.tool("shell"),
        title: "Run a command",
        about: "Run a shell command and return its output and exit code. The middle of long output is omitted; the reply names the full log.",
        about_background: "With run_in_background the call returns at once and you get a notification when the command ends: keep working, never sleep or poll. Use task_wait only if you have nothing else to do.",
        parameters: &[
            Parameter::required("command", Kind::Command, ""),
            Parameter::optional("run_in_background", Kind::Flag(None), "Return at once").with_background(),
            Parameter::optional("timeout", Kind::Whole(Range::ANY), "End it after this many ms"),
            Parameter::optional("description", Kind::Text, "5-10 words for the user"),
            Parameter::optional(
                "expected",
                Kind::Text,
                "Expected duration or size: \"~5 min\", \"247 files\"",
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
        title: "End tasks",
        about: "End tasks and everything they started; SIGKILL follows after 5 s.",
        parameters: &[
            Parameter::optional("task_ids", Kind::Texts, ""),
            Parameter::optional("batch_id", Kind::Text, ""),
            Parameter::optional(
                "signal",
                Kind::Text,
                "Default TERM; signals other than TERM, INT, KILL are only sent",
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
        about_background: "With run_in_background a notification brings the answer.",
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
        about: "Send a message to an agent that has answered; it remembers the conversation. A notification brings the answer.",
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
fn refuse(refusal: &Refusal, cx: &CallContext<'_>) -> Reply {
    let live: Vec<_> = cx.live().iter().map(|task| OWN.handle(task)).collect();
    let rest = match refusal {
        Refusal::Engine(meanwhile::Error::NotFound(_)) if live.is_empty() => {
            " There are no live tasks.".to_owned()
        }
        Refusal::Engine(meanwhile::Error::NotFound(_)) => format!(" Live: {}.", live.join(", ")),
        Refusal::Engine(meanwhile::Error::AtCapacity { .. }) => {
            format!(" End one first: {}.", live.join(", "))
        }
        Refusal::Engine(_) | Refusal::Argument { .. } | Refusal::NoBackground { .. } => String::new(),
    };
    failure(refusal, format!("{refusal}.{rest}"))
}

fn failure(refusal: &Refusal, text: String) -> Reply {
    let data = json!({"error": {"code": refusal.code(), "message": text}});
    Reply::failure(text, data)
}
