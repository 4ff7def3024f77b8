//! The background-task specification: its tasks are agents, which can be resumed.

use super::DialectFacts;
use crate::task::state::Status;
use crate::tool::{Tool, ToolClass};

pub(super) static FACTS: DialectFacts = DialectFacts {
    name: "background-task",
    profile: "background-task",
    tools: &[
        Tool::new("background_task", ToolClass::Delegates),
        Tool::new("background_resume", ToolClass::Delegates),
        Tool::new("background_output", ToolClass::Reads),
        Tool::new("background_block", ToolClass::Reads),
        Tool::new("background_cancel", ToolClass::Kills),
        Tool::new("background_clear", ToolClass::Clears),
    ],
    words: &["running", "completed", "error", "cancelled", "resumed"],
    word: |status, _| match status {
        Status::Resumed => "resumed",
        Status::Pending | Status::Running | Status::Cancelling => "running",
        Status::Completed => "completed",
        Status::Cancelled => "cancelled",
        Status::Failed | Status::TimedOut | Status::Lost => "error",
    },
    ..DialectFacts::DEFAULT
};
