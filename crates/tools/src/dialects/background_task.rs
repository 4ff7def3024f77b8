//! The dialect background-task: `background_output`, `background_block`, `background_cancel`, `background_clear`, and
//! for agents `background_task` and `background_resume`.

mod calls;

use meanwhile::Error;
use serde_json::json;

use super::{Description, Dialect, STATUS_HINT, refuse_plainly, script};
use crate::call::{CallContext, Field, Kind, Offered, Parameter, Refusal, Reply, ToolDefinition};
use crate::screens::Layout;

const OWN: Dialect = Dialect::BackgroundTask;
/// The fields of the reply about a task.
const SUMMARY: &[Field] = &[
    Field::new("task_id", "string"),
    Field::new("description", "string"),
    Field::new("agent", "string|null"),
    Field::new("status", "string"),
    Field::new("queued", "boolean"),
    Field::new("createdAt", "string"),
    Field::new("completedAt", "string|null"),
    Field::new("parentSession", "string|null"),
    Field::new("parentMessage", "string|null"),
    Field::new("batchId", "string|null"),
    Field::new("resumeCount", "integer"),
    Field::new("exitCode", "integer|null"),
    Field::new("endsWithSession", "boolean"),
];

pub(super) static DESCRIPTION: Description = Description {
    definitions: &TOOLS,
    refuse: |refusal, _, cx| refuse(refusal, cx),
    refuse_unopened: refuse_plainly,
    command: script,
    replies_with_objects: true,
    instructions: "background_output shows a task, background_block waits for tasks, background_cancel ends them.",
    list_hint: STATUS_HINT,
    layout: Layout::Plain,
};

static TOOLS: [ToolDefinition; 6] = [
    ToolDefinition {
        tool: OWN.tool("background_task"),
        title: "Ask an agent",
        about: "Start an agent in the background with a prompt. Returns its task id at once; a notification brings the result.",
        about_background: "",
        parameters: &[
            Parameter::required("description", Kind::Text, "Short description"),
            Parameter::required(
                "prompt",
                Kind::Text,
                "What it should do; it knows nothing of this conversation",
            ),
            Parameter::optional("agent", Kind::Text, "Which agent"),
            Parameter::optional("batch_id", Kind::Text, "Groups related tasks"),
            Parameter::optional("parent_message", Kind::Text, "Id of the message it comes from, if known"),
        ],
        offered: Offered::WithBackground,
        reply: SUMMARY,
        run: calls::background_task,
    },
    ToolDefinition {
        tool: OWN.tool("background_resume"),
        title: "Send an agent a follow-up",
        about: "Send a follow-up message to a completed task; its agent remembers the conversation. Returns at once; use background_block to wait for the response.",
        about_background: "",
        parameters: &[
            Parameter::required("task_id", Kind::Text, ""),
            Parameter::required("message", Kind::Text, ""),
        ],
        offered: Offered::WithBackground,
        reply: SUMMARY,
        run: calls::background_resume,
    },
    ToolDefinition {
        tool: OWN.tool("background_output"),
        title: "Status or result of a task",
        about: "Return the result of a finished background task, or status and progress of a running one. Never blocks; use background_block to wait.",
        about_background: "",
        parameters: &[
            Parameter::optional("task_id", Kind::Text, ""),
            Parameter::optional("batch_id", Kind::Text, "Show all tasks of this batch instead"),
        ],
        offered: Offered::WithBackground,
        reply: &[
            Field::new("task_id", "string"),
            Field::new("status", "string"),
            Field::new("result", "string"),
            Field::new("error", "string"),
            Field::new("progress", "object"),
            Field::new("batchId", "string|null"),
            Field::new("resumeCount", "integer"),
            Field::new("retrievedAt", "string"),
            Field::new("tasks", "array"),
        ],
        run: calls::background_output,
    },
    ToolDefinition {
        tool: OWN.tool("background_block"),
        title: "Wait for tasks",
        about: "Wait until all of these tasks have ended, or until the timeout (ms, default {wait}). Returns the status of each.",
        about_background: "",
        parameters: &[
            Parameter::optional("task_ids", Kind::Texts, ""),
            Parameter::optional("batch_id", Kind::Text, "Also all tasks of this batch"),
            Parameter::optional("timeout", Kind::Wait { most: Some(600_000), shown: "number" }, ""),
        ],
        offered: Offered::WithBackground,
        reply: &[Field::new("tasks", "array"), Field::new("timed_out", "boolean")],
        run: calls::background_block,
    },
    ToolDefinition {
        tool: OWN.tool("background_cancel"),
        title: "Cancel tasks",
        about: "Cancel a task, or all running tasks of a batch.",
        about_background: "",
        parameters: &[
            Parameter::optional("task_id", Kind::Text, ""),
            Parameter::optional("batch_id", Kind::Text, ""),
        ],
        offered: Offered::WithBackground,
        reply: &[Field::new("tasks", "array")],
        run: calls::background_cancel,
    },
    ToolDefinition {
        tool: OWN.tool("background_clear"),
        title: "Remove finished tasks",
        about: "Remove finished tasks and their results: the given ones, those of a batch, or all. Running tasks are kept unless cancel is set.",
        about_background: "",
        parameters: &[
            Parameter::optional("task_ids", Kind::Texts, ""),
            Parameter::optional("batch_id", Kind::Text, ""),
            Parameter::optional("cancel", Kind::Flag { default: Some(false) }, "Cancel running tasks first"),
        ],
        offered: Offered::WithBackground,
        reply: &[Field::new("cleared", "array"), Field::new("kept", "array")],
        run: calls::background_clear,
    },
];

fn refuse(refusal: &Refusal, cx: &CallContext<'_>) -> Reply {
    let text = match refusal {
        Refusal::Engine(Error::NotFound(id)) => {
            let live: Vec<_> = cx.live().iter().map(|task| task.id.to_string()).collect();
            let list = if live.is_empty() { "none".to_owned() } else { live.join(", ") };
            format!("Task {id:?} not found. Running: {list}.")
        }
        Refusal::Engine(Error::WrongState { id, status, message }) => {
            let word = OWN.word(*status, None).unwrap_or(status.word());
            format!("{id} is {word}: {message}.")
        }
        other => format!("{other}."),
    };
    Reply::failure(text.clone(), json!({"error": text}))
}
