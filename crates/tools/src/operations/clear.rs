//! Removes finished tasks.

use meanwhile::Filter;
use meanwhile::engine::{ClearReport, KillRequest, Retained};
use mw_model::TaskId;

use crate::call::CallContext;
use crate::call::Refusal;

/// A request to remove tasks.
#[derive(Clone, Debug, Default)]
pub(crate) struct ClearCall {
    /// The tasks to remove. If absent, the other fields select them.
    pub(crate) tasks: Option<Vec<String>>,
    /// If set, all tasks of this batch are removed.
    pub(crate) batch: Option<String>,
    /// Whether live tasks are killed first. Otherwise they are kept.
    pub(crate) cancel: bool,
}

/// The result of a removal.
#[derive(Clone, Debug)]
pub(crate) struct Cleared {
    /// The removed tasks.
    pub(crate) removed: Vec<TaskId>,
    /// The tasks that were kept, with the reasons.
    pub(crate) kept: Vec<Retained>,
}

/// Removes tasks with their logs. Without names and without a batch, all ended tasks of the session are removed.
/// Fails if a task is unknown or the engine fails.
pub(crate) fn clear(call: &ClearCall, cx: &CallContext<'_>) -> Result<Cleared, Refusal> {
    let mut ids = Vec::new();
    for handle in call.tasks.iter().flatten() {
        ids.push(cx.resolve(handle)?);
    }
    if let Some(batch) = &call.batch {
        ids.extend(cx.batch(batch)?.into_iter().map(|task| task.id));
    } else if call.tasks.is_none() {
        let all = Filter { limit: u32::MAX, ..Filter::new(cx.scope()) };
        let finished = cx.runtime.retention().finished(&all, None)?.into_iter();
        ids.extend(finished.filter(|task| cx.is_own(task)).map(|task| task.id));
    }
    ids.sort();
    ids.dedup();
    let kill = KillRequest::term(cx.requester());
    let ClearReport { cleared, kept } = cx.runtime.retention().clear(&ids, call.cancel.then_some(&kill))?;
    Ok(Cleared { removed: cleared, kept })
}
