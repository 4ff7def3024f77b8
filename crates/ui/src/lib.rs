//! What people see: tasks as rows and texts, plain data for every view.
//!
//! Views differ in where they draw, not in what they say, so what is said is decided here once. The
//! terminal task manager (`top`) stands on the same rows as `mw list`, and so will the web page.
#![forbid(unsafe_code)]

pub mod chat;
mod facts;
mod receipt;
mod row;
mod screen;
mod task_row;
mod text;
pub mod top;

pub use facts::{Fact, facts, news_facts};
pub use receipt::receipt_lines;
pub use row::{Row, by_state, icon, sign, state_words, waits, what};
pub use screen::{Depth, Ending, ThemeChoice};
pub use task_row::{Sample, TaskRow};
pub use text::{ago, bar, bytes, count, duration, shortened};
