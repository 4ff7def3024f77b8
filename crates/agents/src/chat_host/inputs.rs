//! The inputs of the core: orders of the screen, and events from the agent.

use meanwhile::Error;
use mw_desk::chat_protocol::{AgentState, ChatEntry, ChatOrder, ChatUpdate};

use super::connection::{AgentEvent, AgentOrder};
use super::core::ChatCore;
use super::slash::{HELP, Slash, is_command};

impl ChatCore<'_> {
    pub(super) fn obey(&mut self, order: ChatOrder) -> Result<(), Error> {
        match order {
            ChatOrder::Say(text) if text.starts_with('/') && !self.is_of_agent(&text) => self.command(text),
            ChatOrder::Say(text) => {
                if self.state != AgentState::Idle {
                    self.add(ChatEntry::Waits { text: text.clone() });
                }
                self.waiting.push_back(text);
                self.tell_waiting();
                if self.state == AgentState::Gone {
                    self.call_again();
                }
                self.go_on()?;
            }
            ChatOrder::Stop => self.connection.send(AgentOrder::Stop),
            ChatOrder::Kill(id) => self.kill(id),
            ChatOrder::MoveToBackground => self.move_to_background()?,
            ChatOrder::Answer(id, reply) => self.answer(&id, reply)?,
            ChatOrder::Leave => {
                let looked = self.look_at_tasks().map_err(|error| error.to_string());
                (self.tell)(ChatUpdate::Leaving(looked.map(|()| self.tasks.clone())));
            }
        }
        Ok(())
    }

    /// Returns whether a line is a slash command of the agent. Commands of the chat come first.
    fn is_of_agent(&self, text: &str) -> bool {
        let word = text.split_whitespace().next().unwrap_or_default();
        !is_command(word) && self.commands.iter().any(|command| word.strip_prefix('/') == Some(&command.name))
    }

    fn command(&mut self, text: String) {
        let parsed = Slash::parse(text.trim_end());
        self.add(ChatEntry::Command { text });
        match parsed {
            Ok(Slash::Help) => self.add(ChatEntry::Printed { text: HELP.to_owned() }),
            Ok(Slash::Mode(mode)) => self.choose_mode(mode),
            Ok(Slash::Answer { id, reply }) => self.answer_by_command(id, reply),
            Ok(command) => self.runner.run(command),
            Err(text) => self.add(ChatEntry::Printed { text }),
        }
    }

    pub(super) fn hear(&mut self, event: AgentEvent) -> Result<(), Error> {
        match event {
            AgentEvent::Ready { info, session, can_load, remembers, mode } => {
                if self.ledger.has_talked && !remembers {
                    self.note(
                        "the agent does not remember this conversation; it starts without it".to_owned(),
                    );
                }
                self.add(ChatEntry::Joined { info, session, can_load });
                if let Some(mode) = mode.filter(|_| self.mode.is_none()) {
                    self.mode = Some(mode.clone());
                    self.add(ChatEntry::Mode { mode });
                }
                // The mode was chosen while no agent was running.
                if let Some(mode) = self.wanted.clone() {
                    self.connection.send(AgentOrder::Mode(mode));
                }
                self.set_state(AgentState::Idle);
                self.look_at_tasks()?;
                self.look_at_notices()?;
                self.go_on()?;
            }
            AgentEvent::Entry(entry) => {
                if let ChatEntry::Mode { mode } = &entry {
                    self.mode = Some(mode.clone());
                    self.wanted.take_if(|wanted| wanted == mode);
                }
                self.add(entry);
            }
            AgentEvent::Asks { number, proposal, what, lines, for_session } => {
                self.agent_asks(number, proposal, for_session, what, lines);
            }
            AgentEvent::Commands(commands) => {
                self.commands.clone_from(&commands);
                (self.tell)(ChatUpdate::Commands(commands));
            }
            AgentEvent::Context(used, size) => (self.tell)(ChatUpdate::Context(used, size)),
            AgentEvent::TurnEnded(end) => self.turn_ended(end)?,
            AgentEvent::Unstopped(after) => {
                let seconds = after.as_secs_f32();
                self.note(format!("the agent has not stopped for {seconds} s; press Esc again to kill it"));
            }
            AgentEvent::ModeRefused { mode, why } => self.mode_refused(&mode, &why),
            AgentEvent::Gone(how) => {
                self.gone(&how);
                self.look_at_tasks()?;
            }
        }
        Ok(())
    }
}
