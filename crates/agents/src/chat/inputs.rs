//! The inputs of the core: orders of the screen, and events from the agent.

use meanwhile::Error;
use mw_desk::chat::{AgentState, ChatOrder, ChatUpdate, Entry};

use super::connection::{AgentEvent, Order};
use super::core::ChatCore;
use super::slash::{HELP, Slash};

impl ChatCore<'_> {
    pub(super) fn obey(&mut self, order: ChatOrder) -> Result<(), Error> {
        match order {
            ChatOrder::Say(text) if text.starts_with('/') => self.command(text),
            ChatOrder::Say(text) => {
                if self.state != AgentState::Idle {
                    self.add(Entry::Waits { text: text.clone() });
                }
                self.waiting.push_back(text);
                self.tell_waiting();
                if self.state == AgentState::Gone {
                    self.call_again();
                }
                self.go_on()?;
            }
            ChatOrder::Stop => self.connection.send(Order::Stop),
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

    fn command(&mut self, text: String) {
        let parsed = Slash::parse(text.trim_end());
        self.add(Entry::Command { text });
        match parsed {
            Ok(Slash::Help) => self.add(Entry::Printed { text: HELP.to_owned() }),
            Ok(Slash::Mode(mode)) => self.choose_mode(mode),
            Ok(Slash::Answer { id, reply }) => self.answer_by_command(id, reply),
            Ok(command) => self.runner.run(command),
            Err(text) => self.add(Entry::Printed { text }),
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
                self.add(Entry::Joined { info, session, can_load });
                if let Some(mode) = mode.filter(|_| self.mode.is_none()) {
                    self.mode = Some(mode.clone());
                    self.add(Entry::Mode { mode });
                }
                // The mode was chosen while no agent was running.
                if let Some(mode) = self.wanted.clone() {
                    self.connection.send(Order::Mode(mode));
                }
                self.set_state(AgentState::Idle);
                self.look_at_tasks()?;
                self.look_at_notices()?;
                self.go_on()?;
            }
            AgentEvent::Entry(entry) => {
                if let Entry::Mode { mode } = &entry {
                    self.mode = Some(mode.clone());
                    self.wanted.take_if(|wanted| wanted == mode);
                }
                self.add(entry);
            }
            AgentEvent::Asks { number, proposal, what, lines } => {
                self.agent_asks(number, proposal, what, lines);
            }
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
