//! Asking a person for approval.

use mw_model::approval::{Answer, Proposal};

/// The result of asking a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AskOutcome {
    /// The person answered.
    Answered {
        /// The answer.
        answer: Answer,
        /// How the answer was given, for the record.
        by: &'static str,
    },
    /// The person closed the request without an answer. It stays open for other ways and for the next call.
    Dismissed,
    /// Nobody could be asked here, or the answer came another way. The request can still be answered elsewhere for a
    /// while.
    Elsewhere,
    /// The caller does not wait. It will come back with the answer or to fetch it.
    Later,
}

/// A way to ask a person.
pub trait Asker {
    /// Asks a person about a proposal. An implementation calls `answered` from time to time and returns once it is
    /// true: the answer came another way.
    fn ask(&self, proposal: &Proposal, answered: &mut dyn FnMut() -> bool) -> AskOutcome;

    /// Returns whether the caller still waits for the result.
    fn still_waits(&self) -> bool {
        true
    }
}

/// Asks nobody. The request waits for `mw approve`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Nobody;

impl Asker for Nobody {
    fn ask(&self, _: &Proposal, _: &mut dyn FnMut() -> bool) -> AskOutcome {
        AskOutcome::Elsewhere
    }
}
