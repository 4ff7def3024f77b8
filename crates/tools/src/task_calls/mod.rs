//! Calls of tools by `mw` inside the confined tasks of a session, from which the home is hidden.
//!
//! ```text
//! mw in a confined task ── one line ──▶ socket of the session ──▶ which task calls?  (process tree)
//!                                                                    │
//!        reply ◀── the same tools and the same policy as for the model, with at most the grant of that task
//! ```
//!
//! A host of the session holds the socket ([`TaskCalls`]). `wire` has the two lines, `listener` accepts connections, `peer`
//! finds the process at the other end, `connection` answers one. A connection carries one call.

mod connection;
mod listener;
mod peer;
mod wire;

pub use listener::TaskCalls;
pub use wire::{CallReply, MAX_CALL, TaskCall};
