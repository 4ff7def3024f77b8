//! A stored message of a conversation, and the events that it contains.
//!
//! The origin of each part is stored with it, so a notification is recognised by its origin and never by its text: a
//! pasted block remains text.

use serde::{Deserialize, Serialize};

use super::Notice;

/// A part of a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "part", rename_all = "snake_case")]
pub enum MessagePart {
    /// Text that a person or a program wrote.
    Text {
        /// The text.
        text: String,
    },
    /// A notification in front of the text.
    Notice {
        /// The notification.
        notice: Box<Notice>,
    },
}

/// A message as it was sent to a model.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageTurn {
    /// Its parts, in order.
    pub parts: Vec<MessagePart>,
}

impl MessageTurn {
    /// Creates the message with notifications in front of the user's text.
    #[must_use]
    pub fn with_notices(notices: &[Notice], text: &str) -> Self {
        let notices = notices.iter().map(|notice| MessagePart::Notice { notice: Box::new(notice.clone()) });
        let text = (!text.is_empty()).then(|| MessagePart::Text { text: text.to_owned() });
        Self { parts: notices.chain(text).collect() }
    }

    /// Returns the message as plain text for the model.
    #[must_use]
    pub fn to_text(&self) -> String {
        let texts = self.parts.iter().map(|part| match part {
            MessagePart::Text { text } => text.clone(),
            MessagePart::Notice { notice } => notice.to_block(),
        });
        texts.collect::<Vec<_>>().join("\n\n")
    }

    /// Returns the events of this message. They are the same for a new message and for one that was read back.
    #[must_use]
    pub fn events(&self) -> Vec<TurnEvent> {
        let events = self.parts.iter().map(|part| match part {
            MessagePart::Text { text } => TurnEvent::Text { text: text.clone() },
            MessagePart::Notice { notice } => TurnEvent::TaskNotification { notice: notice.clone() },
        });
        events.collect()
    }
}

/// What a front end shows for a part of a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum TurnEvent {
    /// Text.
    Text {
        /// The text.
        text: String,
    },
    /// A banner, instead of the block that the model reads.
    TaskNotification {
        /// The notification.
        notice: Box<Notice>,
    },
}

/// Returns the events of a whole conversation, to display it again.
#[must_use]
pub fn events_from_turns(turns: &[MessageTurn]) -> Vec<TurnEvent> {
    turns.iter().flat_map(MessageTurn::events).collect()
}
