//! What a rule reports.

use std::fmt;

/// A place that breaks a rule, with the way to mend it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Violation {
    /// Path from the workspace root.
    pub(super) path: String,
    /// Line, from 1.
    pub(super) line: usize,
    /// What is wrong.
    pub(super) what: String,
    /// What to do.
    pub(super) remedy: &'static str,
}

impl Violation {
    /// Names a place, what is wrong there and what to do.
    pub(super) fn new(path: &str, line: usize, what: impl Into<String>, remedy: &'static str) -> Self {
        Self { path: path.to_owned(), line, what: what.into(), remedy }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}; {}", self.path, self.line, self.what, self.remedy)
    }
}
