//! Output for people.
//!
//! `text` writes lines, with colours if wanted and without control characters; `table` is the list of tasks and `tree` a
//! trace.

pub(crate) mod screen;
pub(crate) mod start_reply;
pub(crate) mod status_page;
pub(crate) mod table;
mod text;
pub(crate) mod tree;

pub(crate) use text::{
    aside, failure, is_coloured, is_unwritten, json, json_line, line, named, note, out, out_bytes, paint,
    port, receipt, started, status, unwritten, warning,
};
