//! A stored message of a conversation, and the events it stands for.
//!
//! Where a text came from is kept beside it, so a notice is known by its origin, never by its looks: what
//! somebody pasted stays text.

use serde::{Deserialize, Serialize};

use super::Notice;

/// A part of a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "part", rename_all = "snake_case")]
pub enum Part {
    /// What a person or a program wrote.
    Text {
        /// The text.
        text: String,
    },
    /// A notice that was put in front of it.
    Notice {
        /// The notice.
        notice: Box<Notice>,
    },
}

/// A message as it was sent to a model.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turn {
    /// Its parts, in order.
    pub parts: Vec<Part>,
}

impl Turn {
    /// Makes the message that carries notices in front of what the user wrote.
    #[must_use]
    pub fn with_notices(notices: &[Notice], text: &str) -> Self {
        let notices = notices.iter().map(|notice| Part::Notice { notice: Box::new(notice.clone()) });
        let text = (!text.is_empty()).then(|| Part::Text { text: text.to_owned() });
        Self { parts: notices.chain(text).collect() }
    }

    /// Writes the message as the model reads it: plain text.
    #[must_use]
    pub fn to_text(&self) -> String {
        let texts = self.parts.iter().map(|part| match part {
            Part::Text { text } => text.clone(),
            Part::Notice { notice } => notice.to_block(),
        });
        texts.collect::<Vec<_>>().join("\n\n")
    }

    /// Returns the events this message stands for, the same whether it was just made or read back.
    #[must_use]
    pub fn events(&self) -> Vec<TurnEvent> {
        let events = self.parts.iter().map(|part| match part {
            Part::Text { text } => TurnEvent::Text { text: text.clone() },
            Part::Notice { notice } => TurnEvent::TaskNotification { notice: notice.clone() },
        });
        events.collect()
    }
}

/// What a front end shows of a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum TurnEvent {
    /// Text.
    Text {
        /// The text.
        text: String,
    },
    /// A banner, in place of the block that the model reads.
    TaskNotification {
        /// The notice.
        notice: Box<Notice>,
    },
}

/// Returns the events of a whole conversation, for showing it again.
#[must_use]
pub fn events_from_turns(turns: &[Turn]) -> Vec<TurnEvent> {
    turns.iter().flat_map(Turn::events).collect()
}
