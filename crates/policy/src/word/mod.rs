//! The value of a word after expansion of quotes, braces, tildes and variables.
//!
//! ```text
//! raw text ──▶ scan ──▶ units ──▶ braces ──▶ words
//!                └──▶ scripts of substitutions, analysed separately
//! ```

mod ansi;
mod braces;
mod expansions;
mod extent;
mod finish;
mod scan;
mod value;

pub(super) use expansions::is_calculation;
pub(super) use scan::{Context, Read, Variable, read_here, read_value, read_word};
pub(super) use value::Word;

use value::Unit;
