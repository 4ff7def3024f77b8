//! Queries and actions of every screen: one model of the tasks for the terminal, the chat and the web.
//!
//! ```text
//! Query, Stretch ──▶ Desk::list ───────▶ Window of TaskRows     with their Samples, as far as known
//! LogTarget ───────▶ Desk::read_log, follow_log ▶ LogChunk
//! TaskAction ──────▶ Desk::act ────────▶ Outcome                of one task or several, with failures
//! nothing ─────────▶ Desk::watch ──────▶ Change                 a task changed, or approval is required
//! ```
//!
//! Everything is plain data and typed errors. There are no terminal and no HTTP types, no threads are started and nothing
//! is printed: a screen calls a [`Desk`] from its own threads.
#![forbid(unsafe_code)]

pub mod action;
mod changes;
pub mod chat;
mod desk;
pub mod log_window;
mod proposals;
pub mod query;
pub mod rows;
mod sample;
pub mod text;

pub use changes::Change;
pub use desk::{Access, Desk};
pub use proposals::{Proposed, Verdict};
pub use sample::{FirstLook, Round, Sample};
