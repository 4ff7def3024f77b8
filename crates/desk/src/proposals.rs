//! Open approval requests and their answers.

use std::time::Duration;

use meanwhile::engine::model::first_chars;
use meanwhile::engine::{ApprovalEntry, Runtime};
use meanwhile::model::approval::{ApprovalState, Proposal};
use meanwhile::{Error, Result};

use crate::desk::Desk;
use crate::rows::ApprovalRow;

/// An open approval request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenRequest {
    /// The id of the request.
    pub id: String,
    /// A short description of the request.
    pub what: String,
    /// The text that a person reads before answering: the exact command and its effects.
    pub lines: Vec<String>,
    /// Whether it can be approved for the whole session.
    pub for_session: bool,
}

impl OpenRequest {
    /// Converts an approval request for a screen.
    #[must_use]
    pub fn of(proposal: &Proposal) -> Self {
        let lines = proposal.question().lines().map(str::to_owned).collect();
        let what = first_chars(proposal.exact().lines().next().unwrap_or_default(), 200).to_owned();
        Self { id: proposal.id.to_string(), what, lines, for_session: true }
    }
}

/// Returns the open requests, oldest first: those of a session, or all.
///
/// # Errors
/// Fails if the home directory cannot be read.
pub fn open_requests(runtime: &Runtime, session: Option<&str>, keep: Duration) -> Result<Vec<OpenRequest>> {
    let open = runtime.approvals().open_approvals(keep)?.into_iter();
    let ours = open.filter(|entry| session.is_none_or(|own| own == entry.proposal.session));
    Ok(ours.map(|entry| OpenRequest::of(&entry.proposal)).collect())
}

impl Desk {
    /// Returns the open approval requests, oldest first.
    ///
    /// # Errors
    /// Fails if the home directory cannot be read.
    pub fn approvals(&self) -> Result<Vec<ApprovalRow>> {
        let open = self.with(|runtime| runtime.approvals().open_approvals(self.access().keep))?;
        Ok(self.visible(&open))
    }

    /// Returns earlier approval requests, newest first.
    ///
    /// # Errors
    /// Fails if the home directory cannot be read.
    pub fn earlier_approvals(&self, most: u32) -> Result<Vec<ApprovalRow>> {
        let earlier = self.with(|runtime| runtime.approvals().approval_history(most))?;
        Ok(self.visible(&earlier))
    }

    /// Returns an approval request.
    ///
    /// # Errors
    /// Fails if there is no such request, or the home directory cannot be read.
    pub fn approval(&self, id: &str) -> Result<ApprovalRow> {
        self.proposal(id).map(|entry| ApprovalRow::of(&entry))
    }

    /// Returns an approval request as it is stored.
    ///
    /// # Errors
    /// As [`Desk::approval`].
    pub fn proposal(&self, id: &str) -> Result<ApprovalEntry> {
        let entry = self.with(|runtime| runtime.approvals().find_approval(id))?;
        let is_visible = self.access().session.as_ref().is_none_or(|own| *own == entry.proposal.session);
        if is_visible { Ok(entry) } else { Err(Error::NoProposal(id.to_owned())) }
    }

    fn visible(&self, entries: &[ApprovalEntry]) -> Vec<ApprovalRow> {
        let own = self.access().session.as_ref();
        let visible = entries.iter().filter(|entry| own.is_none_or(|own| *own == entry.proposal.session));
        visible.map(ApprovalRow::of).collect()
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
