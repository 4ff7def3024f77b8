//! Finds tokens, keys and passwords in a text that must not be shown.
//!
//! ```text
//! text ▸ by their form          tokens    (ghp_…, AKIA…, eyJ….….…, private key blocks)
//!      ▸ by what precedes them  assigned  (password=…, --token …, Authorization: …, user:…@host)
//!      ▸ names                  which names stand for secret values
//! ```
//!
//! The scanners are written by hand: a command that lists tasks runs for a few milliseconds, and compiling the same
//! rules as regular expressions would take as long. Each byte is scanned a bounded number of times, whatever the text.

mod assigned;
mod find;
mod names;
#[cfg(test)]
mod tests;
mod tokens;

pub use find::{Edge, Secret, find_secrets, mark_len, redaction_mark};
pub use names::{is_secret_name, is_secret_value};
