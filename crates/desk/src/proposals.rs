//! Open approval requests and their answers.

use meanwhile::Result;
use meanwhile::engine::Runtime;
use meanwhile::model::approval::ApprovalState;

use crate::desk::{Access, Desk};

/// Something that waits for a person's answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proposed {
    /// Its id.
    pub id: String,
    /// What a person reads before answering.
    pub lines: Vec<String>,
}

/// What became of a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It still waits for an answer.
    Open,
    /// Approved.
    Approved {
        /// The person or program that approved.
        by: String,
    },
    /// Denied.
    Denied {
        /// The person or program that denied.
        by: String,
        /// Why; may be empty.
        why: String,
    },
    /// Expired: nobody answered in time.
    Lapsed,
}

impl Verdict {
    /// Describes the outcome of a request, to be shown after its id.
    #[must_use]
    pub fn words(&self) -> String {
        match self {
            Self::Open => "is still open".to_owned(),
            Self::Approved { by } => format!("was approved by {by}"),
            Self::Denied { by, why } if why.is_empty() => format!("was denied by {by}"),
            Self::Denied { by, why } => format!("was denied by {by}: {why}"),
            Self::Lapsed => "expired: nobody answered".to_owned(),
        }
    }
}

/// Returns what waits for an answer, as far as this screen may see it.
pub(crate) fn proposed(runtime: &Runtime, access: &Access) -> Result<Vec<Proposed>> {
    let open = runtime.approvals().open_approvals(access.keep)?.into_iter();
    let ours = open.filter(|entry| access.session.as_ref().is_none_or(|own| *own == entry.proposal.session));
    let lines = |text: String| text.lines().map(str::to_owned).collect();
    Ok(ours
        .map(|entry| Proposed { id: entry.proposal.id.to_string(), lines: lines(entry.proposal.question()) })
        .collect())
}

impl Desk {
    /// Returns what waits for a person's answer, oldest first.
    ///
    /// # Errors
    /// When the home cannot be read.
    pub fn proposed(&self) -> Result<Vec<Proposed>> {
        self.with(|runtime| proposed(runtime, self.access()))
    }

    /// Looks up what became of a question.
    ///
    /// # Errors
    /// When there is none, or the home cannot be read.
    pub fn verdict(&self, id: &str) -> Result<Verdict> {
        self.with(|runtime| {
            Ok(match runtime.approvals().find_approval(id)?.state {
                ApprovalState::Approved { by, .. } | ApprovalState::Used { by, .. } => {
                    Verdict::Approved { by }
                }
                ApprovalState::Denied { by, why, .. } => Verdict::Denied { by, why },
                ApprovalState::Open => Verdict::Open,
                ApprovalState::Lapsed { .. } => Verdict::Lapsed,
            })
        })
    }
}
