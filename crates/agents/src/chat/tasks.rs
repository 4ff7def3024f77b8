//! The session's tasks, as far as the screen has to do with them.

use meanwhile::{Error, Filter, KillRequest, Runtime, Scope, Task};
use mw_desk::chat::{AgentState, ChatNews, ChatTask};

use super::office::{Message, Office};

const SIGTERM: i32 = 15;

impl Office<'_> {
    pub(super) fn look_at_tasks(&mut self) -> Result<(), Error> {
        const MOST: u32 = 200;
        let session = self.host.session().to_owned();
        let awaited = match self.state {
            // Its locks may last a moment longer than its line.
            AgentState::Gone => Vec::new(),
            AgentState::Starting | AgentState::Idle | AgentState::Busy => self.runtime.awaited(&session)?,
        };
        let page = self.runtime.list(&Filter { limit: MOST, ..Filter::new(Scope::Session(session)) })?;
        let live = page.tasks.iter().filter(|task| !task.status.is_terminal());
        let row = |task: &Task| ChatTask {
            id: task.id.to_string(),
            handle: self.desktop.seen(task.clone()).handle(),
            what: task.description.clone().unwrap_or_else(|| task.command.clone()),
            status: task.status,
            since: task.started_at,
            log: self.runtime.log_of(task).to_string_lossy().into_owned(),
            awaited: awaited.contains(&task.id) && !self.runtime.is_moved_to_background(&task.id),
        };
        let tasks: Vec<_> = live.map(row).collect();
        if tasks != self.tasks {
            self.tasks.clone_from(&tasks);
            (self.tell)(ChatNews::Tasks(tasks));
        }
        Ok(())
    }

    /// Ends a task on a thread of its own: that may take some seconds. Its end is news to the agent.
    pub(super) fn kill(&self, id: String) {
        let (settings, messages) = (self.options.settings.clone(), self.messages.clone());
        let scope = Scope::Session(self.host.session().to_owned());
        std::thread::spawn(move || {
            let request =
                KillRequest { by: "the user, in the chat".to_owned(), signal: SIGTERM, grace_ms: None };
            let killed =
                Runtime::open(settings).and_then(|runtime| runtime.kill(&id, &scope, &request).map(drop));
            if let Err(error) = killed {
                let _ = messages.send(Message::Failed(format!("{id}: {error}. {}", error.hint())));
            }
            let _ = messages.send(Message::Happened);
        });
    }

    pub(super) fn move_to_background(&mut self) -> Result<(), Error> {
        for id in self.runtime.awaited(self.host.session())? {
            self.runtime.move_to_background(&id)?;
        }
        self.look_at_tasks()
    }
}
