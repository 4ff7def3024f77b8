//! Removes finished tasks.

use meanwhile::Filter;
use meanwhile::engine::{ClearReport, KillRequest, Retained};
use mw_model::TaskId;

use crate::call::CallContext;
use crate::call::Refusal;

/// What to remove.
#[derive(Clone, Debug, Default)]
pub struct ClearCall {
    /// These; absent = whatever fits the rest.
    pub tasks: Option<Vec<String>>,
    /// All of this batch.
    pub batch: Option<String>,
    /// Whether those that are not over are ended first. They are kept otherwise.
    pub cancel: bool,
}

/// What was removed and what was not.
#[derive(Clone, Debug)]
pub struct Cleared {
    /// Removed tasks.
    pub removed: Vec<TaskId>,
    /// Tasks that were kept, and why.
    pub kept: Vec<Retained>,
}

/// Removes tasks with their logs. Without names and without a batch, all ended tasks of the session.
///
/// # Errors
/// When a task is unknown or the engine fails.
pub fn clear(call: &ClearCall, cx: &CallContext<'_>) -> Result<Cleared, Refusal> {
    let mut ids = Vec::new();
    for handle in call.tasks.iter().flatten() {
        ids.push(cx.resolve(handle)?);
    }
    let filter = Filter { batch: call.batch.clone(), limit: u32::MAX, ..Filter::new(cx.scope()) };
    if call.batch.is_some() {
        ids.extend(cx.runtime.tasks().list(&filter)?.tasks.into_iter().map(|task| task.id));
    } else if call.tasks.is_none() {
        let finished = cx.runtime.retention().finished(&filter, None)?.into_iter();
        ids.extend(finished.filter(|task| cx.is_own(task)).map(|task| task.id));
    }
    ids.sort();
    ids.dedup();
    let kill = KillRequest::term(cx.requester());
    let ClearReport { cleared, kept } = cx.runtime.retention().clear(&ids, call.cancel.then_some(&kill))?;
    Ok(Cleared { removed: cleared, kept })
}
