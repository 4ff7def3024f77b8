//! Text: bytes that may be no UTF-8, numbers with units, and what is safe to show.
//!
//! `cut` shortens, `redact` finds secrets, `visible` characters that hide others, `prompt` lines that wait for an answer.

pub(crate) mod cut;
pub(crate) mod prompt;
pub(crate) mod quotes;
pub(crate) mod raw_text;
pub(crate) mod redact;
pub(crate) mod units;
pub(crate) mod visible;
