//! Tracks which messages and notifications have reached the agent.
//!
//! The state is computed from the entries of the transcript alone, so a killed chat resumes with the same state as one
//! that was closed.

use std::collections::{BTreeMap, HashSet};

use mw_desk::chat_protocol::ChatEntry;
use mw_model::Notice;

use super::slash::Slash;

/// The delivery state after the entries so far.
#[derive(Default)]
pub(super) struct Ledger {
    /// Notifications that were shown.
    shown: BTreeMap<i64, Notice>,
    /// Notifications that were sent to the agent.
    sent: HashSet<i64>,
    /// Notifications that were sent but not received.
    lost: HashSet<i64>,
    /// The last sent message, if the agent has not responded to it yet.
    pub(super) in_flight: Option<InFlightMessage>,
    /// Queued messages that were not sent.
    pub(super) unsent: Vec<String>,
    /// Whether a turn is running.
    pub(super) is_under_way: bool,
    /// Whether the agent has received a message that it could remember.
    pub(super) has_talked: bool,
    /// The last agent.
    agent: Option<String>,
    known: Option<String>,
    /// The mode that the user last chose by a command and that was set.
    pub(super) mode: Option<String>,
    wanted: Option<String>,
}

/// A message that was sent to the agent and is not confirmed by a response yet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct InFlightMessage {
    pub(super) numbers: Vec<i64>,
    pub(super) text: Option<String>,
}

impl Ledger {
    pub(super) fn of<'e>(entries: impl IntoIterator<Item = &'e ChatEntry>) -> Self {
        let mut ledger = Self::default();
        entries.into_iter().for_each(|entry| ledger.take(entry));
        ledger
    }

    pub(super) fn take(&mut self, entry: &ChatEntry) {
        match entry {
            ChatEntry::Opened { agent, .. } => {
                if self.agent.replace(agent.clone()).is_some_and(|before| before != *agent) {
                    (self.known, self.mode) = (None, None);
                }
                self.unsent.clear();
            }
            ChatEntry::Joined { session, can_load, .. } => self.known = can_load.then(|| session.clone()),
            ChatEntry::User { text } => {
                if let Some(at) = self.unsent.iter().position(|waited| waited == text) {
                    self.unsent.remove(at);
                }
                self.in_flight.get_or_insert_default().text = Some(text.clone());
                (self.has_talked, self.is_under_way) = (true, true);
            }
            ChatEntry::Delivered { numbers } => {
                self.sent.extend(numbers);
                numbers.iter().for_each(|number| _ = self.lost.remove(number));
                self.in_flight = Some(InFlightMessage { numbers: numbers.clone(), text: None });
                (self.has_talked, self.is_under_way) = (true, true);
            }
            ChatEntry::NotReceived { numbers } => {
                numbers.iter().for_each(|number| _ = self.sent.remove(number));
                self.lost.extend(numbers);
            }
            ChatEntry::Notice { notice } => _ = self.shown.insert(notice.number, (**notice).clone()),
            ChatEntry::Waits { text } => self.unsent.push(text.clone()),
            // The agent has responded, so it has received the message.
            ChatEntry::Said { .. }
            | ChatEntry::Thought { .. }
            | ChatEntry::Tool(_)
            | ChatEntry::Plan { .. } => self.in_flight = None,
            ChatEntry::TurnEnded { .. } => (self.in_flight, self.is_under_way) = (None, false),
            ChatEntry::Command { text } => {
                if let Ok(Slash::Mode(Some(mode))) = Slash::parse(text.trim_end()) {
                    self.wanted = Some(mode);
                }
            }
            ChatEntry::Mode { mode } => {
                if self.wanted.take_if(|wanted| wanted == mode).is_some() {
                    self.mode = Some(mode.clone());
                }
            }
            ChatEntry::Printed { .. } | ChatEntry::Answered { .. } | ChatEntry::Note { .. } => {}
        }
    }

    /// Returns the session id of this agent, if it can load the session.
    pub(super) fn known_to(&self, agent: &str) -> Option<String> {
        self.known.clone().filter(|_| self.agent.as_deref() == Some(agent))
    }

    pub(super) fn was_shown(&self, number: i64) -> bool {
        self.shown.contains_key(&number)
    }

    pub(super) fn was_sent(&self, number: i64) -> bool {
        self.sent.contains(&number)
    }

    /// Returns the notifications that were sent but not received, oldest first.
    pub(super) fn lost(&self) -> impl Iterator<Item = &Notice> {
        self.shown.values().filter(|notice| self.lost.contains(&notice.number))
    }

    /// Returns the notifications to send now, each once and ordered by time. Their numbers may be in another order.
    pub(super) fn to_send(&self, new: &[Notice]) -> Vec<Notice> {
        let new = new.iter().filter(|notice| !self.was_sent(notice.number));
        let by_time = self.lost().chain(new).map(|notice| ((notice.at, notice.number), notice.clone()));
        by_time.collect::<BTreeMap<_, _>>().into_values().collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn user(text: &str) -> ChatEntry {
        ChatEntry::User { text: text.to_owned() }
    }

    fn said() -> ChatEntry {
        ChatEntry::Said { text: "x".to_owned() }
    }

    fn opened(agent: &str) -> ChatEntry {
        ChatEntry::Opened { agent: agent.to_owned(), cwd: "/".to_owned() }
    }

    fn notice(number: i64) -> ChatEntry {
        ChatEntry::Notice { notice: Box::new(notice_at(number, "2027-01-15T08:00:00Z")) }
    }

    fn notice_at(number: i64, at: &str) -> Notice {
        serde_json::from_value(json!({
            "number": number, "task": "bash-k3f9x2ab", "handle": "bash_1", "run": 1, "at": at,
            "news": "ended", "cause": {"cause": "exited", "code": 0},
            "command": "true", "output_path": "/x", "duration_ms": 4240
        }))
        .unwrap()
    }

    #[test]
    fn notifications_are_sent_in_the_order_of_their_times() {
        let mut ledger = Ledger::of(&[notice(7), ChatEntry::Delivered { numbers: vec![7] }, user("hello")]);
        let new = [notice_at(8, "2027-01-15T09:00:00Z"), notice_at(9, "2027-01-15T07:00:00Z")];
        let numbers =
            |ledger: &Ledger| ledger.to_send(&new).iter().map(|notice| notice.number).collect::<Vec<_>>();
        assert_eq!(numbers(&ledger), [9, 8]);
        ledger.take(&ChatEntry::NotReceived { numbers: vec![7] });
        assert_eq!(numbers(&ledger), [9, 7, 8]);
    }

    #[test]
    fn unanswered_messages_are_in_flight_and_lost_notifications_are_resent() {
        let sent = ChatEntry::Delivered { numbers: vec![7] };
        let mut ledger = Ledger::of(&[notice(7), sent.clone(), user("hello")]);
        let in_flight = InFlightMessage { numbers: vec![7], text: Some("hello".to_owned()) };
        assert_eq!((ledger.in_flight.as_ref(), ledger.is_under_way), (Some(&in_flight), true));
        ledger.take(&ChatEntry::NotReceived { numbers: vec![7] });
        assert!(!ledger.was_sent(7));
        assert_eq!(ledger.lost().map(|notice| notice.number).collect::<Vec<_>>(), [7]);
        for entry in [sent, said()] {
            ledger.take(&entry);
        }
        assert_eq!((ledger.in_flight.as_ref(), ledger.lost().count(), ledger.was_sent(7)), (None, 0, true));
        ledger.take(&ChatEntry::TurnEnded { early: None });
        assert!(!ledger.is_under_way);
    }

    #[test]
    fn a_queued_message_is_unsent_until_it_is_sent_or_the_chat_is_reopened() {
        let waits = |text: &str| ChatEntry::Waits { text: text.to_owned() };
        let mut ledger = Ledger::of(&[opened("mw"), waits("a"), waits("b"), user("a")]);
        assert_eq!(ledger.unsent, ["b"]);
        ledger.take(&opened("mw"));
        assert_eq!(ledger.unsent, [""; 0], "a reopened chat has shown the unsent messages");
    }

    #[test]
    fn a_session_and_a_chosen_mode_belong_to_their_agent() {
        let joined = ChatEntry::Joined { info: None, session: "s1".to_owned(), can_load: true };
        let command = ChatEntry::Command { text: "/mode plan".to_owned() };
        let mode = |mode: &str| ChatEntry::Mode { mode: mode.to_owned() };
        let mut ledger = Ledger::of(&[opened("mw"), joined, mode("safe")]);
        assert_eq!(ledger.mode, None, "the user did not choose this mode");
        ledger.take(&command);
        ledger.take(&mode("plan"));
        assert_eq!(ledger.mode.as_deref(), Some("plan"));
        assert_eq!(ledger.known_to("mw").as_deref(), Some("s1"));
        assert_eq!(ledger.known_to("other"), None);
        ledger.take(&opened("other"));
        assert_eq!((ledger.mode.as_deref(), ledger.known_to("other")), (None, None));
    }
}
