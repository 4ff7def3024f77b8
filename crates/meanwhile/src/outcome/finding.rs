//! What a recogniser hands back.

use super::report::Report;

/// A tool's ending.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Finding {
    /// Index of the last line that belongs to it.
    pub(super) last: usize,
    /// How to weigh it against others in the same output.
    pub(super) kind: Kind,
    /// What to say.
    pub(super) text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// It said that something went wrong.
    Failed,
    /// It ran tests and all went well.
    Passed,
    /// It did a step of the work, which is worth telling only when nothing came after it.
    Finished,
    /// It only ran other commands and says that one of them failed; what that one said itself is better.
    RunnerOfOthers,
}

impl Finding {
    pub(super) fn new(last: usize, kind: Kind, report: &Report) -> Self {
        Self { last, kind, text: report.line() }
    }

    /// Makes the finding of a test runner.
    pub(super) fn of_tests(last: usize, failed: bool, report: &Report) -> Self {
        Self::new(last, if failed { Kind::Failed } else { Kind::Passed }, report)
    }
}
