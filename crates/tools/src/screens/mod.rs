//! Texts for people: task lists, status pages and boxes, for replies and for the slash commands of a chat.

pub(crate) mod co_cli;
pub(crate) mod mycode;
mod panel;
mod tasks;

pub use co_cli::status;
pub use tasks::{Layout, one, started, tasks, word, words};
