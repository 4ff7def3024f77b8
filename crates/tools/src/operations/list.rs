//! Lists tasks.

use meanwhile::{Filter, Task};

use crate::call::CallContext;
use crate::call::Refusal;

/// Part of a list.
#[derive(Clone, Debug)]
pub struct Listed {
    /// Live tasks first, then the newest; as many as a reply may hold.
    pub tasks: Vec<Task>,
    /// The total number of tasks.
    pub total: u64,
}

impl Listed {
    /// Returns how many are not shown.
    #[must_use]
    pub fn missing(&self) -> u64 {
        self.total.saturating_sub(self.tasks.len() as u64)
    }
}

/// Lists the session's tasks, as many as a reply may hold when each takes as much room as `room` says; the
/// filter's scope is set here.
///
/// # Errors
/// When the engine fails.
pub fn list(filter: Filter, room: impl Fn(&Task) -> usize, cx: &CallContext<'_>) -> Result<Listed, Refusal> {
    let page = cx.runtime.tasks().list(&Filter { scope: cx.scope(), ..filter })?;
    let mut tasks = page.tasks;
    shorten(&mut tasks, room, cx);
    Ok(Listed { tasks, total: page.total })
}

/// Removes items from the end that do not fit into a reply. Returns their number.
pub fn shorten<T>(items: &mut Vec<T>, room: impl Fn(&T) -> usize, cx: &CallContext<'_>) -> usize {
    let mut left = usize::try_from(cx.premises.reply_bytes).unwrap_or(usize::MAX);
    let fitting = items.iter().take_while(|item| {
        let rest = left.checked_sub(room(item));
        left = rest.unwrap_or(0);
        rest.is_some()
    });
    // One is always shown, or a list could never be read.
    let shown = fitting.count().max(1);
    let missing = items.len().saturating_sub(shown);
    items.truncate(shown);
    missing
}
