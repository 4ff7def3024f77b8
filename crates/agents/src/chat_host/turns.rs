//! Turns: when one starts, which messages it sends, and how unreceived messages are handled.

use std::rc::Rc;

use meanwhile::Error;
use meanwhile::engine::Moment;
use mw_desk::chat_protocol::{AgentState, ChatEntry, ChatUpdate};
use mw_desk::text::error_text;
use mw_model::{MessageTurn, Notice};

use super::Wake;
use super::connection::{AgentOrder, TurnEnd};
use super::core::ChatCore;

impl ChatCore<'_> {
    /// Starts the agent again.
    pub(super) fn call_again(&mut self) {
        self.connections += 1;
        self.connection = self.connect();
        self.is_fresh = true;
        self.set_state(AgentState::Starting);
    }

    /// Starts the next turn, if there is a message or notification and the agent is ready.
    pub(super) fn go_on(&mut self) -> Result<(), Error> {
        // A turn also shows notifications. They wait until a command has printed which task it started.
        if self.state != AgentState::Idle || self.runner.announcing.is_under_way() {
            return Ok(());
        }
        let text = self.waiting.front().cloned();
        if text.is_some() || (self.options.wake == Wake::Idle && self.anything_to_tell()?) {
            // A message that cannot be sent stays queued.
            self.turn(text.as_deref())?;
            if text.is_some() {
                self.waiting.pop_front();
                self.tell_waiting();
            }
        }
        Ok(())
    }

    pub(super) fn tell_waiting(&self) {
        (self.tell)(ChatUpdate::Waiting(self.waiting.iter().cloned().collect()));
    }

    fn anything_to_tell(&self) -> Result<bool, Error> {
        // A refused message is not sent again automatically, because that could repeat forever.
        if self.is_fresh && self.ledger.lost().next().is_some() {
            return Ok(true);
        }
        // After a crash, notifications that are in the transcript are delivered again.
        let delivery = self.host.drain(Moment::Idle)?;
        Ok(delivery.notices().iter().any(|notice| !self.ledger.was_sent(notice.number)))
    }

    /// Sends a message to the agent, preceded by the notifications.
    fn turn(&mut self, text: Option<&str>) -> Result<(), Error> {
        let host = Rc::clone(&self.host);
        let delivery = host.drain(Moment::RunStart)?;
        let notices = self.ledger.to_send(delivery.notices());
        let numbers: Vec<_> = notices.iter().map(|notice| notice.number).collect();
        let message = MessageTurn::with_notices(&notices, text.unwrap_or_default()).to_text();
        if message.is_empty() {
            return Ok(());
        }
        for notice in notices {
            self.show(notice);
        }
        let tells = !numbers.is_empty();
        if tells {
            self.add(ChatEntry::Delivered { numbers });
        }
        if let Some(text) = text {
            self.add(ChatEntry::User { text: text.to_owned() });
        }
        // If the transcript cannot be written, the notifications are delivered again after a crash.
        if tells
            && self.options.transcript.sync().is_ok()
            && let Err(error) = delivery.acknowledge()
        {
            self.note(error_text(&error));
        }
        self.is_fresh = false;
        self.set_state(AgentState::Busy);
        self.connection.send(AgentOrder::Prompt(message));
        Ok(())
    }

    fn show(&mut self, notice: Notice) {
        if !self.ledger.was_shown(notice.number) {
            self.add(ChatEntry::Notice { notice: Box::new(notice) });
        }
    }

    /// Shows new notifications, and starts a turn if they should wake the agent.
    pub(super) fn look_at_notices(&mut self) -> Result<(), Error> {
        if self.runner.announcing.is_under_way() {
            return Ok(());
        }
        let host = Rc::clone(&self.host);
        // This only reads the notifications. The next turn takes them.
        let notices = host.drain(Moment::Idle)?.notices().to_vec();
        for notice in notices {
            self.show(notice);
        }
        self.go_on()
    }

    pub(super) fn turn_ended(&mut self, end: TurnEnd) -> Result<(), Error> {
        self.forget_questions_of_agent();
        let in_flight = self.ledger.in_flight.take();
        match end {
            TurnEnd::Done => self.add(ChatEntry::TurnEnded { early: None }),
            TurnEnd::Early(why) => self.add(ChatEntry::TurnEnded { early: Some(why) }),
            TurnEnd::Refused(why) => {
                self.add(ChatEntry::TurnEnded { early: Some(why) });
                if let Some(in_flight) = in_flight {
                    self.record_unreceived(in_flight.numbers);
                }
            }
        }
        self.fatal = None;
        self.set_state(AgentState::Idle);
        self.look_at_tasks()?;
        self.look_at_notices()
    }

    pub(super) fn gone(&mut self, how: &str) {
        self.forget_questions_of_agent();
        let in_flight = self.ledger.in_flight.take().unwrap_or_default();
        if self.state == AgentState::Busy {
            self.add(ChatEntry::TurnEnded { early: Some("the agent has exited".to_owned()) });
        }
        self.record_unreceived(in_flight.numbers);
        let next = match in_flight.text {
            None => "Your next message restarts it.",
            Some(text) if self.fatal.as_ref() == Some(&text) => {
                "It exited twice on the same message, which is not sent again. Your next message restarts it."
            }
            Some(text) => {
                self.fatal = Some(text.clone());
                self.add(ChatEntry::Waits { text: text.clone() });
                self.waiting.push_front(text);
                self.tell_waiting();
                "It may not have received your last message, which is kept. Your next message restarts it."
            }
        };
        self.note(format!("{how}. {next}"));
        self.set_state(AgentState::Gone);
    }

    /// Records which notifications were not received.
    pub(super) fn record_unreceived(&mut self, numbers: Vec<i64>) {
        if !numbers.is_empty() {
            self.add(ChatEntry::NotReceived { numbers });
        }
    }
}
