//! The tasks and approval requests of a session in the form that a chat shows.

use meanwhile::model::approval::Proposal;
use meanwhile::model::first_chars;
use meanwhile::{Filter, Result, Task};

use super::protocol::{ChatQuestion, ChatTask};
use crate::desk::Desk;

/// The maximum number of listed tasks.
const MAX_TASKS: u32 = 200;

impl ChatQuestion {
    /// Converts an approval request for the screen.
    #[must_use]
    pub fn of(proposal: &Proposal) -> Self {
        let lines = proposal.question().lines().map(str::to_owned).collect();
        let what = first_chars(proposal.exact().lines().next().unwrap_or_default(), 200).to_owned();
        Self { id: proposal.id.to_string(), what, lines, for_session: true }
    }
}

impl Desk {
    /// Returns the live tasks of a session, and whether a call of its agent waits for them. `handle` returns the name
    /// of a task in the chat.
    ///
    /// # Errors
    /// Fails if the home directory cannot be read.
    pub fn chat_tasks(&self, handle: impl Fn(Task) -> String) -> Result<Vec<ChatTask>> {
        self.with(|runtime| {
            let awaited = match &self.access().session {
                Some(session) => runtime.notifications().awaited(session)?,
                None => Vec::new(),
            };
            let page = runtime.tasks().list(&Filter { limit: MAX_TASKS, ..Filter::new(self.scope()) })?;
            let live = page.tasks.iter().filter(|task| !task.status.is_terminal());
            let is_awaited =
                |task: &Task| awaited.contains(&task.id) && !runtime.live().is_moved_to_background(&task.id);
            let row = |task: &Task| ChatTask {
                id: task.id.to_string(),
                handle: handle(task.clone()),
                what: task.description.clone().unwrap_or_else(|| task.command.clone()),
                status: task.status,
                since: task.started_at,
                log: runtime.reader().name_log(task).to_string_lossy().into_owned(),
                awaited: is_awaited(task),
            };
            Ok(live.map(row).collect())
        })
    }
}
