//! What people see on a terminal: the task manager and the chat, and what both share.
//!
//! What they show and do is asked of `mw-desk`; here it is drawn, and keys become orders.
#![forbid(unsafe_code)]

pub mod chat;
mod screen;
pub mod top;

pub use screen::{Ending, ThemeChoice, bar, shortened};
