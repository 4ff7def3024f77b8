//! Removing tasks that are over.

use meanwhile::{ClearReport, Filter, Retained};
use mw_model::TaskId;

use super::desk::Desk;
use super::refusal::Refusal;

/// What was removed and what was not.
#[derive(Clone, Debug)]
pub struct Cleared {
    /// Removed tasks.
    pub removed: Vec<TaskId>,
    /// Tasks that were kept, and why.
    pub kept: Vec<Retained>,
}

/// Removes tasks that are over, with their logs; without names, all of the session's.
///
/// # Errors
/// When a task is unknown or the engine fails.
pub fn clear(tasks: Option<Vec<String>>, desk: &Desk<'_>) -> Result<Cleared, Refusal> {
    let ids = match tasks {
        Some(handles) => {
            let found = handles.iter().map(|handle| desk.runtime.resolve(handle, &desk.scope()));
            found.collect::<Result<Vec<_>, _>>()?
        }
        None => {
            let filter = Filter { limit: u32::MAX, ..Filter::new(desk.scope()) };
            desk.runtime.finished(&filter, None)?.into_iter().map(|task| task.id).collect()
        }
    };
    let ClearReport { cleared, kept } = desk.runtime.clear(&ids, None)?;
    Ok(Cleared { removed: cleared, kept })
}
