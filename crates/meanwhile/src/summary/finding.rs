//! What a recogniser hands back.

/// How a tool's own ending is to be weighed against the others in the same output.
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

/// A tool's ending.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Finding {
    /// Index of the last line that belongs to it.
    pub(super) last: usize,
    /// How to weigh it.
    pub(super) kind: Kind,
    /// What to say.
    pub(super) text: String,
}
