//! The screen of the chat.
//!
//! ```text
//! terminal ─┐                                     ┌▶ view ─▶ terminal
//! signals ──┼─▶ Input ─▶ update(state) ─▶ state ──┤
//! ChatUpdate ─┘                                     └▶ Effect ─▶ ChatOrder ─▶ the process behind the screen
//! ```
//!
//! `update` and `view` do no I/O. Replayed and live entries take the same path, so both are displayed in the same way.

mod call;
mod composer;
mod dialog;
mod dialog_keys;
mod diff;
mod highlight;
mod item;
mod markdown;
mod menu;
mod program;
mod questions;
mod state;
mod table;
#[cfg(test)]
mod tests;
mod update;
mod view;
mod window;

pub use program::{Options, run};
pub use window::{EventReceiver, EventSender, Sent, door};
