//! Who approved a start.

use mw_model::Timestamp;
use mw_model::approval::{ApprovalRecord, Digest, ProposalId};

/// Who approved a start. Only the gate creates a person's approval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Approval {
    /// The user started it.
    User,
    /// Policy allowed it.
    Auto,
    /// A person was asked and approved it.
    Granted(Consent),
}

/// A person's approval of exactly one request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Consent {
    pub(crate) proposal: ProposalId,
    pub(crate) digest: Digest,
    pub(crate) at: Timestamp,
}

impl Consent {
    /// Returns the record that is stored with a task.
    pub(crate) fn on_record(&self) -> ApprovalRecord {
        ApprovalRecord { proposal: self.proposal.clone(), digest: self.digest.clone() }
    }
}

impl Approval {
    /// Returns the word for the record: `user`, or `auto` if policy allowed it.
    #[must_use]
    pub const fn by(&self) -> &'static str {
        match self {
            Self::User | Self::Granted(_) => "user",
            Self::Auto => "auto",
        }
    }

    pub(crate) const fn granted(&self) -> Option<&Consent> {
        match self {
            Self::User | Self::Auto => None,
            Self::Granted(granted) => Some(granted),
        }
    }
}
