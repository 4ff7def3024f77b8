//! Reading output: one primitive, capped, from any offset, never by loading the log.

mod clean;
mod grep;
mod read;
mod search;
mod shown;
mod tail;
mod take;

pub use clean::{clean_text, render_screen};
pub use grep::{GrepMatch, GrepReply, GrepRequest};
pub use read::{From, Piece, ReadReply, ReadRequest};

pub(crate) use grep::compile;
pub(crate) use search::LineSearch;
