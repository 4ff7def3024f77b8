//! Output for people.
//!
//! `text` writes lines, coloured where wanted and safe to show; `table` is the list of tasks and `tree` a trace.

pub(crate) mod colours;
pub(crate) mod table;
mod text;
pub(crate) mod tree;

pub(crate) use text::{
    aside, failure, is_unwritten, json, line, named, note, out, out_bytes, port, receipt, started, status,
    unwritten, warning,
};
