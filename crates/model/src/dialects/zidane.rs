//! zidane: tasks are numbered per context, and queued tasks are not listed.

use super::DialectFacts;
use crate::task::id::short_handle;
use crate::task::state::Status;
use crate::tool::{Tool, ToolClass};

pub(super) static FACTS: DialectFacts = DialectFacts {
    name: "zidane",
    profile: "zidane",
    tools: &[Tool::new("shell", ToolClass::Starts), Tool::new("shell_kill", ToolClass::Kills)],
    words: &["running", "exited", "killed"],
    unlisted: &[Status::Pending, Status::Lost],
    word: |status, _| match status {
        Status::Pending | Status::Lost => status.word(),
        Status::Running | Status::Resumed | Status::Cancelling => "running",
        Status::Completed | Status::Failed => "exited",
        Status::Cancelled | Status::TimedOut => "killed",
    },
    // Only the tasks of a context are numbered. All others go by their unique id.
    handle: |task| match (task.context, task.handle_number) {
        (Some(_), Some(number)) => short_handle(task.kind, number),
        _ => task.id.to_string(),
    },
    // Like a shell: 128 plus the signal.
    exit_code: |cause| cause.exit_code().or(cause.signal().map(|signal| 128 + signal)),
    numbers_tasks: true,
    ..DialectFacts::DEFAULT
};
