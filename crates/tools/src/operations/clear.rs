//! Removes finished tasks.

use meanwhile::TaskFilter;
use meanwhile::engine::{ClearReport, KillRequest};

use crate::call::{Arguments, CallContext, CallRefusal};

/// Removes tasks with their logs: those of `task_ids` and `batch_id`, or all ended tasks of the session. Live tasks are
/// kept, unless `cancel` is set. Returns a line for each task that was kept as well.
/// Fails if a task is unknown or the engine fails.
pub(crate) fn clear(
    arguments: &Arguments,
    cx: &CallContext<'_>,
) -> Result<(ClearReport, String), CallRefusal> {
    let tasks = arguments.texts("task_ids");
    let mut ids = Vec::new();
    for handle in tasks.iter().flatten() {
        ids.push(cx.resolve(handle)?);
    }
    if let Some(batch) = arguments.text("batch_id") {
        ids.extend(cx.batch(batch)?.into_iter().map(|task| task.id));
    } else if tasks.is_none() {
        let all = TaskFilter { limit: u32::MAX, ..TaskFilter::new(cx.scope()) };
        let finished = cx.runtime.retention().finished(&all, None)?.into_iter();
        ids.extend(finished.filter(|task| cx.is_own(task)).map(|task| task.id));
    }
    ids.sort();
    ids.dedup();
    let kill = (arguments.flag("cancel") == Some(true)).then(|| KillRequest::term(cx.requester()));
    let report = cx.runtime.retention().clear(&ids, kill.as_ref())?;
    let lines = report.kept.iter().map(|kept| format!("\n{} kept: {}", kept.id, kept.reason)).collect();
    Ok((report, lines))
}
