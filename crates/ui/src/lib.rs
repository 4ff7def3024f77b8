//! What people see: tasks as rows and texts, plain data for every view.
//!
//! Views differ in where they draw, not in what they say, so what is said is decided here once. The
//! terminal task manager (`tui`) stands on the same rows as `mw list`, and so will the web page.
#![forbid(unsafe_code)]

#[cfg(feature = "tui")]
pub mod chat;
mod facts;
mod receipt;
mod row;
mod task_row;
#[cfg(feature = "tui")]
mod terminal;
mod text;
#[cfg(feature = "tui")]
pub mod tui;

pub use facts::{Fact, facts, news_facts};
pub use receipt::receipt_lines;
pub use row::{Row, by_state, icon, sign, state_words, waits, what};
pub use task_row::{Sample, TaskRow};
pub use text::{ago, bar, bytes, count, duration, shortened};
