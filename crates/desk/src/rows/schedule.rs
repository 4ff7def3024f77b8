//! Describes when a queued task starts.

use meanwhile::Task;
use meanwhile::engine::model::RunOrigin;
use meanwhile::model::{Status, Timestamp};

use crate::text::at_time;

/// Returns when a queued task starts, if it waits for a time.
#[must_use]
pub fn next_start(task: &Task, now: Timestamp) -> Option<String> {
    let at = task.not_before.filter(|at| task.status == Status::Pending && *at > now)?;
    let when = at_time(at, now);
    Some(match task.state.origin() {
        RunOrigin::Retry { failures, .. } => {
            let most = task.restart.and_then(|policy| policy.retries);
            let which = match (failures, most) {
                (0, _) => String::new(),
                (failures, Some(most)) => format!(" (retry {failures} of {most})"),
                (failures, None) => format!(" (retry {failures})"),
            };
            format!("restarting {when}{which}")
        }
        RunOrigin::Repetition => {
            let last = task.last_run.as_ref().filter(|last| last.status.is_error());
            format!("next run {when}{}", last.map_or("", |_| ", the last one failed"))
        }
        RunOrigin::First | RunOrigin::Restart | RunOrigin::Resume => format!("starts {when}"),
    })
}
