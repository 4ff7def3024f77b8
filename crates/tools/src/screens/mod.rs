//! Texts for people: task lists, status pages and boxes, for replies and for the slash commands of a chat.

pub(crate) mod panel;
mod tasks;
pub(crate) mod text;

pub use tasks::{Layout, one, started, status, table, tasks, word, words};
