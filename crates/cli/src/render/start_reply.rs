//! The reply of every command that starts a task.

use meanwhile::Task;
use meanwhile::engine::Started;
use meanwhile::model::{Cause, Status, TaskId};
use serde::Serialize;

use crate::error::CommandResult;
use crate::{exit_code, render};

/// A started task.
#[derive(Serialize)]
pub(crate) struct StartReply<'a> {
    id: &'a TaskId,
    status: Status,
    pid: Option<u32>,
    output_path: &'a str,
    queue_position: Option<u32>,
    /// Why it did not start.
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<&'a str>,
}

impl<'a> StartReply<'a> {
    /// Prints the started task. If it could not be started, the exit code is that of a wait for it. A task that was skipped at
    /// once counts as started, as does one that is skipped later.
    pub(crate) fn show(started: &Started, json: bool) -> CommandResult {
        let task = &started.task;
        if json {
            render::json(&StartReply::of(task))?;
        } else {
            render::out(&render::started(started, render::is_coloured(json)))?;
        }
        let is_skipped = matches!(task.cause_value(), Some(Cause::Skipped { .. }));
        Ok(if task.never_ran() && !is_skipped { exit_code::of_task(task) } else { 0 })
    }

    fn of(task: &'a Task) -> Self {
        Self {
            cause: task.cause.as_deref().filter(|_| task.never_ran()),
            id: &task.id,
            status: task.status,
            pid: task.pid,
            output_path: &task.output_path,
            queue_position: task.queue_position,
        }
    }
}
