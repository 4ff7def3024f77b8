//! Hides secrets in everything that is shown. Only the owner's own files have them.
//!
//! ```text
//! log, spec, database: unchanged, owner-only
//!   └▸ Redactor (built-in rules · the user's patterns · secret variables of the task) ▸ everything that is shown
//! ```
//!
//! Nothing on disk is changed, so a rule that is added later also hides earlier output.
//!
//! If the environment of a task cannot be read, its secret values are unknown. Then commands and other texts of its
//! record are hidden as a whole. Its output is hidden by the other rules, with a note that says so.

mod redactor;
mod sequences;
mod surfaces;
#[cfg(test)]
mod tests;

use crate::base::part;

pub use redactor::Redactor;
pub(crate) use redactor::{UNREADABLE_NOTE, secrets_in};

part! {
    /// Hides secrets in everything that is shown.
    pub struct Redaction;
}
