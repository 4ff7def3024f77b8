//! What any screen asks and does: one model of the tasks for the terminal, the chat and the web.
//!
//! ```text
//! Query, Stretch ──▶ Desk::list ───────▶ Window of TaskRows     with what is known of their Samples
//! LogTarget ───────▶ Desk::read_log, follow_log ▶ LogChunk
//! TaskAction ──────▶ Desk::act ────────▶ Outcome                one task or several, with what failed for which
//! nothing ─────────▶ Desk::watch ──────▶ Change                 something happened, somebody is asked
//! ```
//!
//! Everything is plain data and typed errors. No terminal type and no HTTP type appears, no thread is started and nothing
//! is printed: a screen calls a [`Desk`] from whatever threads it has.
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
