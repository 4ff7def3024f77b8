//! The screen of a chat.
//!
//! ```text
//! terminal ─┐                                     ┌▶ view ─▶ terminal
//! signals ──┼─▶ Event ─▶ update(state) ─▶ state ──┤
//! ChatNews ─┘                                     └▶ Effect ─▶ ChatOrder ─▶ the process behind the screen
//! ```
//!
//! `update` and `view` do no I/O. What was said before and what is said now come by the same way, as entries, so
//! that both look the same.

mod asked;
mod call;
mod composer;
mod dialog;
mod dialog_keys;
mod diff;
mod item;
mod markdown;
mod program;
mod state;
mod table;
#[cfg(test)]
mod tests;
mod update;
mod view;
mod window;
mod wrap;

pub use program::{Options, run};
pub use window::{Door, Post, Sent, door};
