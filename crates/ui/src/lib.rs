//! The terminal screens: the task manager, the chat, and what they share.
//!
//! What they show and do is asked of `mw-desk`; here it is drawn, and keys become orders.
#![forbid(unsafe_code)]

pub mod chat;
mod screen;
pub mod top;

pub use screen::{Ending, ThemeChoice, bar, shortened};
