//! co-cli: ids name the time and the program, and a notification is a sentence.

use super::{DialectFacts, TaskName};
use crate::task::id::long_handle;
use crate::task::spec::CommandSpec;
use crate::task::state::Status;
use crate::tool::{Tool, ToolClass};

pub(super) static FACTS: DialectFacts = DialectFacts {
    name: "co-cli",
    profile: "co-cli",
    tools: &[
        Tool::new("start_background_task", ToolClass::Starts),
        Tool::new("check_task_status", ToolClass::Reads),
        Tool::new("list_background_tasks", ToolClass::Reads),
        Tool::new("cancel_background_task", ToolClass::Kills),
    ],
    words: &["pending", "running", "completed", "failed", "cancelled"],
    word: |status, _| match status {
        Status::Pending => "pending",
        Status::Running | Status::Resumed | Status::Cancelling => "running",
        Status::Completed => "completed",
        Status::Cancelled => "cancelled",
        Status::Failed | Status::TimedOut | Status::Lost => "failed",
    },
    handle,
    // The link leads to the directory itself.
    link: |task| Some((handle(task), None)),
    notifies_in_a_sentence: true,
    ..DialectFacts::DEFAULT
};

fn handle(task: &TaskName<'_>) -> String {
    let script = task.line.as_ref().into();
    let program = CommandSpec::Shell { program: "sh".into(), script }.program_word();
    long_handle(task.created_at, &program, task.id)
}
