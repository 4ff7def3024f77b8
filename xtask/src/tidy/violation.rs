//! A violation of a rule.

use std::fmt;

/// The location of a violation, with its remedy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Violation {
    /// The path relative to the workspace root.
    pub(super) path: String,
    /// The line number, from 1.
    pub(super) line: usize,
    /// A description of the problem.
    pub(super) what: String,
    /// The remedy.
    pub(super) remedy: &'static str,
}

impl Violation {
    /// Creates a violation.
    pub(super) fn new(path: &str, line: usize, what: impl Into<String>, remedy: &'static str) -> Self {
        Self { path: path.to_owned(), line, what: what.into(), remedy }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}; {}", self.path, self.line, self.what, self.remedy)
    }
}
