//! What people see: tasks as rows and texts, plain data for every view.
//!
//! Views differ in where they draw, not in what they say, so what is said is decided here once. The
//! terminal task manager and the web page will stand on the same rows as `mw list`.
#![forbid(unsafe_code)]

mod row;
mod text;

pub use row::{Row, icon, state_words};
pub use text::{bar, bytes, count, duration, shortened};
