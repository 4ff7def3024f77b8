//! The tasks and approval requests of a session, as a chat shows them.

use meanwhile::model::approval::Proposal;
use meanwhile::model::first_chars;
use meanwhile::{Filter, Result, Task};

use super::protocol::{ChatQuestion, ChatTask};
use crate::desk::Desk;

/// How many tasks are looked at.
const MOST: u32 = 200;

impl ChatTask {
    fn of(task: &Task, handle: String, log: String, awaited: bool) -> Self {
        Self {
            id: task.id.to_string(),
            handle,
            what: task.description.clone().unwrap_or_else(|| task.command.clone()),
            status: task.status,
            since: task.started_at,
            log,
            awaited,
        }
    }
}

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
    /// Returns the live tasks of a session, with those that a call of its agent waits for. `handle` says what the chat
    /// calls a task.
    ///
    /// # Errors
    /// When the home cannot be read.
    pub fn chat_tasks(&self, handle: impl Fn(Task) -> String) -> Result<Vec<ChatTask>> {
        self.with(|runtime| {
            let awaited = match &self.access().session {
                Some(session) => runtime.notifications().awaited(session)?,
                None => Vec::new(),
            };
            let page = runtime.tasks().list(&Filter { limit: MOST, ..Filter::new(self.scope()) })?;
            let live = page.tasks.iter().filter(|task| !task.status.is_terminal());
            let is_awaited = |task: &Task| {
                awaited.contains(&task.id) && !runtime.notifications().is_moved_to_background(&task.id)
            };
            let row = |task: &Task| {
                let log = runtime.reader().name_log(task).to_string_lossy().into_owned();
                ChatTask::of(task, handle(task.clone()), log, is_awaited(task))
            };
            Ok(live.map(row).collect())
        })
    }
}
