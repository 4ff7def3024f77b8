//! Loads and kills the tasks of the session.

use meanwhile::Error;
use mw_desk::action::Force;
use mw_desk::chat_protocol::{AgentState, ChatUpdate};
use mw_desk::text::error_text;

use super::core::{ChatCore, Message};

impl ChatCore<'_> {
    pub(super) fn look_at_tasks(&mut self) -> Result<(), Error> {
        let mut tasks = self.desk.chat_tasks(|task| self.runner.seen(task).handle())?;
        if self.state == AgentState::Gone {
            // The locks of a call may last a moment longer than the agent's connection.
            tasks.iter_mut().for_each(|task| task.awaited = false);
        }
        if tasks != self.tasks {
            self.tasks.clone_from(&tasks);
            (self.tell)(ChatUpdate::Tasks(tasks));
        }
        Ok(())
    }

    /// Kills a task on a separate thread, because that may take seconds. The agent receives a notification.
    pub(super) fn kill(&self, id: String) {
        let (desk, messages) = (self.desk.clone(), self.messages.clone());
        std::thread::spawn(move || {
            if let Err(error) = desk.kill(std::slice::from_ref(&id), Force::Term) {
                let _ = messages.send(Message::Failed(format!("{id}: {}", error_text(&error))));
            }
            let _ = messages.send(Message::Happened);
        });
    }

    pub(super) fn move_to_background(&mut self) -> Result<(), Error> {
        for id in self.runtime.notifications().awaited(self.host.session())? {
            self.runtime.live().move_to_background(&id)?;
        }
        self.look_at_tasks()
    }
}
