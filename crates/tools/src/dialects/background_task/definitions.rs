//! The definitions of the tools of the background-task specification.

use meanwhile::Error;

use super::calls;
use crate::call::{CallContext, CallRefusal, Kind, Parameter, Reply, ToolDefinition};
use crate::dialects::{Dialect, DialectTools, failure};

pub(super) const OWN: Dialect = Dialect::BackgroundTask;
/// The fields of the reply about a task.
const SUMMARY: &str = "task_id: string, description: string, agent: string|null, status: string, queued: boolean, \
     createdAt: string, completedAt: string|null, parentSession: string|null, \
     parentMessage: string|null, batchId: string|null, resumeCount: integer, exitCode: integer|null, \
     endsWithSession: boolean";

pub(in crate::dialects) static TOOLS: DialectTools = DialectTools {
    definitions: &DEFINITIONS,
    refuse: |refusal, _, cx| refuse(refusal, cx),
    replies_with_objects: true,
    instructions: "background_output shows a task, background_block waits for tasks, background_cancel ends them.",
    ..DialectTools::DEFAULT
};

static DEFINITIONS: [ToolDefinition; 6] = [
    ToolDefinition {
        tool: OWN.tool("background_task"),
        title: "Ask an agent",
        about: "Start an agent in the background with a prompt. Returns its task id at once; you get the result in a notification.",
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
        reply: SUMMARY,
        run: calls::background_task,
        ..ToolDefinition::DEFAULT
    },
    ToolDefinition {
        tool: OWN.tool("background_resume"),
        title: "Send an agent a follow-up",
        about: "Send a follow-up message to a completed task; its agent remembers the conversation. Returns at once; use background_block to wait for the response.",
        parameters: &[
            Parameter::required("task_id", Kind::Text, ""),
            Parameter::required("message", Kind::Text, ""),
        ],
        reply: SUMMARY,
        run: calls::background_resume,
        ..ToolDefinition::DEFAULT
    },
    ToolDefinition {
        tool: OWN.tool("background_output"),
        title: "Status or result of a task",
        about: "Return the result of a finished background task, or status and progress of a running one. Never blocks; use background_block to wait.",
        parameters: &[
            Parameter::optional("task_id", Kind::Text, ""),
            Parameter::optional("batch_id", Kind::Text, "Show all tasks of this batch instead"),
        ],
        reply: "task_id: string, status: string, result: string, error: string, progress: object, \
                batchId: string|null, resumeCount: integer, retrievedAt: string, tasks: array",
        run: calls::background_output,
        ..ToolDefinition::DEFAULT
    },
    ToolDefinition {
        tool: OWN.tool("background_block"),
        waits: true,
        title: "Wait for tasks",
        about: "Wait until all of these tasks have ended, or until the timeout (ms, default {wait}). Returns the status of each.",
        parameters: &[
            Parameter::optional("task_ids", Kind::Texts, ""),
            Parameter::optional("batch_id", Kind::Text, "Also all tasks of this batch"),
            Parameter::optional("timeout", Kind::Wait { most: Some(600_000), shown: "number" }, ""),
        ],
        reply: "tasks: array, timed_out: boolean",
        run: calls::background_block,
        ..ToolDefinition::DEFAULT
    },
    ToolDefinition {
        tool: OWN.tool("background_cancel"),
        title: "Cancel tasks",
        about: "Cancel a task, or all running tasks of a batch.",
        parameters: &[
            Parameter::optional("task_id", Kind::Text, ""),
            Parameter::optional("batch_id", Kind::Text, ""),
        ],
        reply: "tasks: array",
        run: calls::background_cancel,
        ..ToolDefinition::DEFAULT
    },
    ToolDefinition {
        tool: OWN.tool("background_clear"),
        title: "Remove finished tasks",
        about: "Remove finished tasks and their results: the given ones, those of a batch, or all. Running tasks are kept unless cancel is set.",
        parameters: &[
            Parameter::optional("task_ids", Kind::Texts, ""),
            Parameter::optional("batch_id", Kind::Text, ""),
            Parameter::optional("cancel", Kind::Flag(Some(false)), "Cancel running tasks first"),
        ],
        reply: "cleared: array, kept: array",
        run: calls::background_clear,
        ..ToolDefinition::DEFAULT
    },
];

/// What the specification requires as the next step if a session no longer exists.
pub(super) const START_ANEW: &str = "session expired, start a new background_task";

fn refuse(refusal: &CallRefusal, cx: &CallContext<'_>) -> Reply {
    let text = match refusal {
        CallRefusal::Engine(Error::NotFound(id)) => {
            let live = cx.live_handles();
            format!("Task {id:?} not found. Running: {}.", if live.is_empty() { "none" } else { &live })
        }
        CallRefusal::Engine(Error::WrongState { id, status, message }) => {
            format!("{id} is {}: {message}.", OWN.word(*status, None))
        }
        CallRefusal::Engine(Error::Expired { id }) => format!("{id}: {START_ANEW}."),
        other => format!("{other}."),
    };
    failure(text)
}
