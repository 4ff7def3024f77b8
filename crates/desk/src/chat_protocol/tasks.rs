//! The tasks and approval requests of a session in the form that a chat shows.

use meanwhile::engine::{ReadFrom, ReadRequest, Runtime, clean_text};
use meanwhile::{Result, Scope, Task, TaskFilter};

use super::protocol::ChatTask;
use crate::desk::Desk;

/// The maximum number of listed tasks.
const MAX_TASKS: u32 = 200;

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
            let page =
                runtime.tasks().list(&TaskFilter { limit: MAX_TASKS, ..TaskFilter::new(self.scope()) })?;
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
                tail: is_awaited(task).then(|| last_line(runtime, task, &self.scope())).flatten(),
            };
            Ok(live.map(row).collect())
        })
    }
}

/// Returns the last line of a task's log that is not empty.
fn last_line(runtime: &Runtime, task: &Task, scope: &Scope) -> Option<String> {
    const TAIL: u64 = 2 << 10;
    let request = ReadRequest { from: ReadFrom::TailBytes(TAIL), max_bytes: TAIL, ..ReadRequest::default() };
    let text = clean_text(&runtime.reader().read_shown(task.id.as_str(), scope, &request).ok()?.text());
    let line = text.lines().rev().map(str::trim).find(|line| !line.is_empty())?;
    Some(line.to_owned())
}
