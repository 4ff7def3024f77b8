//! Removing tasks that are over.

use meanwhile::{ClearReport, Filter, KillRequest, Retained};
use mw_model::TaskId;

use crate::call::Desk;
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

/// Removes tasks with their logs. Without names and without a batch, all of the session's own that are over.
///
/// # Errors
/// When a task is unknown or the engine fails.
pub fn clear(call: &ClearCall, desk: &Desk<'_>) -> Result<Cleared, Refusal> {
    let mut ids = Vec::new();
    for handle in call.tasks.iter().flatten() {
        ids.push(desk.resolve(handle)?);
    }
    let filter = Filter { batch: call.batch.clone(), limit: u32::MAX, ..Filter::new(desk.scope()) };
    if call.batch.is_some() {
        ids.extend(desk.runtime.list(&filter)?.tasks.into_iter().map(|task| task.id));
    } else if call.tasks.is_none() {
        let finished = desk.runtime.finished(&filter, None)?.into_iter();
        ids.extend(finished.filter(|task| desk.is_own(task)).map(|task| task.id));
    }
    ids.sort();
    ids.dedup();
    let kill = KillRequest::term(desk.requester());
    let ClearReport { cleared, kept } = desk.runtime.clear(&ids, call.cancel.then_some(&kill))?;
    Ok(Cleared { removed: cleared, kept })
}
