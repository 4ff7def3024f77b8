//! mycode: the output of a task is a file next to its directory.

use super::DialectFacts;
use crate::task::id::TaskKind;
use crate::task::state::Status;
use crate::tool::{Tool, ToolClass};
use crate::wire::{AGENT_FILE, LOG_FILE};

pub(super) static FACTS: DialectFacts = DialectFacts {
    name: "mycode",
    profile: "mycode",
    tools: &[
        Tool::new("Bash", ToolClass::Starts),
        Tool::new("Task", ToolClass::Delegates),
        Tool::new("TaskOutput", ToolClass::Reads),
        Tool::new("KillShell", ToolClass::Kills),
    ],
    words: &["pending", "running", "completed", "error", "cancelled"],
    word: |status, _| match status {
        Status::Pending => "pending",
        Status::Running | Status::Resumed | Status::Cancelling => "running",
        Status::Completed => "completed",
        Status::Cancelled => "cancelled",
        Status::Failed | Status::TimedOut | Status::Lost => "error",
    },
    link: |task| {
        let (ending, file) = match task.kind {
            TaskKind::Agent => ("json", AGENT_FILE),
            TaskKind::Shell | TaskKind::Remote => ("log", LOG_FILE),
        };
        Some((format!("{}.{ending}", task.id), Some(file)))
    },
    ..DialectFacts::DEFAULT
};
