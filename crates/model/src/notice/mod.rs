//! What an owner is told about a task.
//!
//! `news` says what happened, `block` is the text in which a model reads it, and `turn` finds such texts in a conversation
//! again.

mod block;
mod news;
mod turn;

pub use news::{AGENT_WAITS, News, Notice};
pub use turn::{Part, Turn, TurnEvent, events_from_turns};

#[cfg(test)]
mod tests;
