//! Formats numbers, times and errors for people, and fits text into columns.

mod format;
mod moment;
mod width;

pub use format::{ago, bytes, error_text, with_hint};
pub use meanwhile::engine::model::{count, duration};
pub use moment::{at_time, use_time_zone};
pub use width::{bar, cell, columns, cut, shortened, shortened_path};
