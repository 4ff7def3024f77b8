//! Text utilities: bytes that may not be UTF-8, numbers with units, and safe display.
//!
//! `cut` shortens text, `one_line` removes what is not a visible character of a line, `redact` finds secrets, `visible` spells out
//! invisible characters, `shell_word` quotes, and `prompt` recognises lines that wait for an answer.

pub(crate) mod cut;
pub(crate) mod one_line;
pub(crate) mod prompt;
pub(crate) mod quotes;
pub(crate) mod raw_text;
pub(crate) mod redact;
pub(crate) mod shell_word;
pub(crate) mod units;
pub(crate) mod visible;
