//! Queries and actions of every screen: one model of the tasks for the terminal, the chat and the web.
//!
//! ```text
//! Query, RowRange ──▶ Desk::list ───────▶ Window of TaskRows     with their Samples, as far as known
//! LogTarget ───────▶ Desk::read_log, follow_log ▶ LogChunk
//! TaskAction ──────▶ Desk::act ────────▶ lines of text          of one task or several, with failures
//! nothing ─────────▶ Desk::watch ──────▶ DeskChange             a task changed, or approval is required
//! ```
//!
//! The interface consists of plain data and typed errors. The crate has no terminal or HTTP types, starts no threads
//! and prints nothing. A screen calls a [`Desk`] from its own threads.
#![forbid(unsafe_code)]

pub mod action;
mod changes;
pub mod chat_protocol;
mod desk;
pub mod log_window;
mod proposals;
pub mod query;
pub mod rows;
mod sample;
pub mod text;

pub use changes::{DeskChange, DeskEvent};
pub use desk::{Access, Desk};
pub use proposals::{OpenRequest, open_requests};
pub use sample::{Round, Sample};
