//! Notifications for the owner of a task.
//!
//! `news` describes what happened, `block` is the text for a model, and `turn` recovers notifications from a stored
//! conversation.

mod block;
mod news;
mod turn;

pub use news::{AGENT_WAITS, News, Notice};
pub use turn::{Part, Turn, TurnEvent, events_from_turns};

#[cfg(test)]
mod tests;
