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

pub(crate) use expansions::is_calculation;
pub(crate) use scan::{Context, Read, Variable, read_here, read_value, read_word};
pub(crate) use value::Word;

use value::Unit;
