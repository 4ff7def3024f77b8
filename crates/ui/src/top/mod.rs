//! The full-screen task manager.
//!
//! ```text
//! terminal ─┐                                     ┌▶ view ─▶ terminal
//! signals ──┤                                     │
//! clock ────┼─▶ Input ─▶ update(state) ─▶ state ──┤
//! Event ────┘                                     └▶ Effect ─▶ worker, reader, action threads ─▶ desk ─▶ Event …
//! ```
//!
//! `update` and `view` do no I/O: every request to the outside is an `Effect`, and its result is an `Event`. The main
//! thread sleeps until a key, a signal or a result arrives, or for a second while a visible task runs. Only rows near the
//! visible part are loaded, and only visible tasks are measured.

mod effect;
mod event;
mod hunt;
mod keys;
mod layout;
mod list;
mod log;
mod outside;
mod program;
mod question;
mod reader;
mod state;
#[cfg(test)]
mod tests;
mod update;
mod view;
mod worker;

pub use program::{Options, run};
