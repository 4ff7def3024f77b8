//! Lists tasks.

use meanwhile::{Task, TaskFilter};

use crate::call::{CallContext, CallRefusal};

/// A list of tasks that fits into a reply.
#[derive(Clone, Debug)]
pub(crate) struct Listed {
    /// The tasks that fit into a reply: live tasks first, then the newest.
    pub(crate) tasks: Vec<Task>,
    /// The total number of tasks.
    pub(crate) total: u64,
}

impl Listed {
    /// Returns the number of tasks that are not shown.
    pub(crate) fn missing(&self) -> u64 {
        self.total.saturating_sub(self.tasks.len() as u64)
    }
}

/// Lists the session's tasks, up to the size of a reply. `room` returns the size of a task. The scope of the filter is
/// replaced.
/// Fails if the engine fails.
pub(crate) fn list(
    filter: TaskFilter,
    room: impl Fn(&Task) -> usize,
    cx: &CallContext<'_>,
) -> Result<Listed, CallRefusal> {
    let page = cx.runtime.tasks().list(&TaskFilter { scope: cx.scope(), ..filter })?;
    let mut tasks = page.tasks;
    shorten(&mut tasks, room, cx);
    Ok(Listed { tasks, total: page.total })
}

/// Removes items from the end that do not fit into a reply. Returns their number.
pub(crate) fn shorten<T>(items: &mut Vec<T>, room: impl Fn(&T) -> usize, cx: &CallContext<'_>) -> usize {
    let mut left = usize::try_from(cx.call_settings.reply_bytes).unwrap_or(usize::MAX);
    let fitting = items.iter().take_while(|item| {
        let rest = left.checked_sub(room(item));
        left = rest.unwrap_or(0);
        rest.is_some()
    });
    // At least one item is shown, because otherwise a list could never be read.
    let shown = fitting.count().max(1);
    let missing = items.len().saturating_sub(shown);
    items.truncate(shown);
    missing
}
