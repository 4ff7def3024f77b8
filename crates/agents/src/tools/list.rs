//! Listing tasks.

use meanwhile::{Filter, Task};

use super::desk::Desk;
use super::refusal::Refusal;

/// Part of a list.
#[derive(Clone, Debug)]
pub struct Listed {
    /// Live tasks first, then the newest.
    pub tasks: Vec<Task>,
    /// How many there are in all.
    pub total: u64,
}

/// Lists the session's tasks; the filter's scope is set here.
///
/// # Errors
/// When the engine fails.
pub fn list(filter: Filter, desk: &Desk<'_>) -> Result<Listed, Refusal> {
    let page = desk.runtime.list(&Filter { scope: desk.scope(), ..filter })?;
    Ok(Listed { tasks: page.tasks, total: page.total })
}
