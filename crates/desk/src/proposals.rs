//! Open approval requests and their answers.

use meanwhile::Result;
use meanwhile::engine::Runtime;
use meanwhile::model::approval::ApprovalState;

use crate::desk::{Access, Desk};

/// An open approval request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proposed {
    /// The id of the request.
    pub id: String,
    /// The text that a person reads before answering.
    pub lines: Vec<String>,
}

/// Returns the open requests that this screen may see.
pub(crate) fn proposed(runtime: &Runtime, access: &Access) -> Result<Vec<Proposed>> {
    let open = runtime.approvals().open_approvals(access.keep)?.into_iter();
    let ours = open.filter(|entry| access.session.as_ref().is_none_or(|own| *own == entry.proposal.session));
    let lines = |text: String| text.lines().map(str::to_owned).collect();
    Ok(ours
        .map(|entry| Proposed { id: entry.proposal.id.to_string(), lines: lines(entry.proposal.question()) })
        .collect())
}

impl Desk {
    /// Returns the open approval requests, oldest first.
    ///
    /// # Errors
    /// Fails if the home directory cannot be read.
    pub fn proposed(&self) -> Result<Vec<Proposed>> {
        self.with(|runtime| proposed(runtime, self.access()))
    }

    /// Describes the outcome of a request. The text is shown after the request's id.
    ///
    /// # Errors
    /// Fails if there is no such request, or the home directory cannot be read.
    pub fn outcome(&self, id: &str) -> Result<String> {
        self.with(|runtime| {
            Ok(match runtime.approvals().find_approval(id)?.state {
                ApprovalState::Open => "is still open".to_owned(),
                ApprovalState::Approved { by, .. } | ApprovalState::Used { by, .. } => {
                    format!("was approved by {by}")
                }
                ApprovalState::Denied { by, why, .. } if why.is_empty() => format!("was denied by {by}"),
                ApprovalState::Denied { by, why, .. } => format!("was denied by {by}: {why}"),
                ApprovalState::Lapsed { .. } => "expired: nobody answered".to_owned(),
            })
        })
    }
}
