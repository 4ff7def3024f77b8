//! The full-screen task manager.
//!
//! ```text
//! terminal ─┐                                     ┌▶ view ─▶ terminal
//! signals ──┤                                     │
//! clock ────┼─▶ Event ─▶ update(state) ─▶ state ──┤
//! desk ─────┘                                     └▶ Effect ─▶ worker, reader, action threads ─▶ desk ─▶ Event …
//! ```
//!
//! `update` and `view` do no I/O: what is wanted from outside is an `Effect`, what comes of it an `Event`.
//! The main thread sleeps until a key, a signal, an answer or, while something on screen runs, a second comes.
//! Rows are loaded around what is on screen only, and only those on screen are asked what they use.

mod effect;
mod event;
mod keys;
mod layout;
mod log;
mod outside;
mod program;
mod question;
mod reader;
mod sampler;
mod state;
#[cfg(test)]
mod tests;
mod update;
mod view;
mod watch;
mod worker;

pub use program::{Options, run};
