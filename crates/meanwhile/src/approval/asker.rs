//! Putting a question to a person.

use mw_model::approval::{Answer, Proposal};

/// What came of putting a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asked {
    /// The person answered.
    Answered {
        /// What.
        answer: Answer,
        /// By which way, for the record.
        by: &'static str,
    },
    /// The question was closed without an answer. It stays open for others, and for the next call.
    Dismissed,
    /// Nobody could be asked here, or the answer came another way. Whoever can may still answer for a while.
    Elsewhere,
    /// The caller does not wait, but comes back with the answer or for it.
    Later,
}

/// A way to put a question to a person.
pub trait Asker {
    /// Puts a proposal to a person. It looks at `answered` now and then: once that says so, the answer came
    /// another way, and it returns.
    fn ask(&self, proposal: &Proposal, answered: &mut dyn FnMut() -> bool) -> Asked;

    /// Tells whether the caller still waits for what it asked for.
    fn still_waits(&self) -> bool {
        true
    }
}

/// No way at all: the question waits for `mw approve`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Nobody;

impl Asker for Nobody {
    fn ask(&self, _: &Proposal, _: &mut dyn FnMut() -> bool) -> Asked {
        Asked::Elsewhere
    }
}
