//! The session's tasks, as far as the screen has to do with them.

use meanwhile::Error;
use mw_desk::action::Force;
use mw_desk::chat::{AgentState, ChatNews};

use super::office::{Message, Office};

impl Office<'_> {
    pub(super) fn look_at_tasks(&mut self) -> Result<(), Error> {
        let mut tasks = self.desk.chat_tasks(|task| self.desktop.seen(task).handle())?;
        if self.state == AgentState::Gone {
            // Its locks may last a moment longer than its line.
            tasks.iter_mut().for_each(|task| task.awaited = false);
        }
        if tasks != self.tasks {
            self.tasks.clone_from(&tasks);
            (self.tell)(ChatNews::Tasks(tasks));
        }
        Ok(())
    }

    /// Ends a task on a thread of its own: that may take some seconds. Its end is news to the agent.
    pub(super) fn kill(&self, id: String) {
        let (desk, messages) = (self.desk.clone(), self.messages.clone());
        std::thread::spawn(move || {
            if let Err(error) = desk.kill(std::slice::from_ref(&id), Force::Term) {
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
