//! The result of a recogniser.

use super::report::Report;

/// How a tool ended.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Finding {
    /// Index of the last line that belongs to the tool.
    pub(super) last: usize,
    /// Its weight among other findings in the same output.
    pub(super) kind: Kind,
    /// The text of the summary.
    pub(super) text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// The tool reported a failure.
    Failed,
    /// The tool ran tests, and all passed.
    Passed,
    /// The tool did a step of the work, which is worth reporting only if nothing follows.
    Finished,
    /// The tool only runs other commands and reports that one failed. That command's own report is better.
    RunnerOfOthers,
}

impl Finding {
    pub(super) fn new(last: usize, kind: Kind, report: &Report) -> Self {
        Self { last, kind, text: report.line() }
    }

    /// Returns the finding of a test runner.
    pub(super) fn of_tests(last: usize, failed: bool, report: &Report) -> Self {
        Self::new(last, if failed { Kind::Failed } else { Kind::Passed }, report)
    }
}
