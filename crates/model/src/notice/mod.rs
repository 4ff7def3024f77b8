//! Notifications for the owner of a task.
//!
//! `kind` describes what happened, `block` is the text for a model, and `turn` recovers notifications from a stored
//! conversation.

mod block;
mod kind;
mod turn;

pub use kind::{AGENT_WAITS, Notice, NoticeKind};
pub use turn::{MessagePart, MessageTurn, TurnEvent, events_from_turns};

#[cfg(test)]
mod tests;
