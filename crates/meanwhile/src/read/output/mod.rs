//! Reads output through one primitive: with limits, from any offset, and without loading the whole log.

mod clean;
mod grep;
mod read;
mod search;
mod shown;
mod tail;
mod take;

pub use clean::{clean_text, render_screen};
pub use grep::{GrepReply, GrepRequest, OutputMatch};
pub use read::{Piece, ReadFrom, ReadReply, ReadRequest};

pub(crate) use grep::compile;
pub(crate) use search::LineSearch;
