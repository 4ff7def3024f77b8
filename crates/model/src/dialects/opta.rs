//! opta: short ids, and approval before every start and every kill.

use super::DialectFacts;
use crate::task::cause::Cause;
use crate::task::state::Status;
use crate::tool::{Tool, ToolClass};

pub(super) static FACTS: DialectFacts = DialectFacts {
    name: "opta",
    profile: "opta",
    tools: &[
        Tool::new("bg_start", ToolClass::Starts),
        Tool::new("bg_status", ToolClass::Reads),
        Tool::new("bg_output", ToolClass::Reads),
        Tool::new("bg_kill", ToolClass::Kills),
    ],
    words: &["running", "completed", "failed", "killed", "timeout"],
    word: |status, cause| match status {
        Status::Pending | Status::Running | Status::Resumed | Status::Cancelling => "running",
        Status::Completed => "completed",
        Status::Failed if matches!(cause, Some(Cause::Signaled { .. })) => "killed",
        Status::Cancelled => "killed",
        Status::TimedOut => "timeout",
        Status::Failed | Status::Lost => "failed",
    },
    handle: |task| task.id.suffix().to_owned(),
    asks_first: true,
    ..DialectFacts::DEFAULT
};
