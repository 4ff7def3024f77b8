//! Who let a start pass.

use mw_model::Timestamp;
use mw_model::approval::{ApprovalRecord, Digest, ProposalId};

/// Who let a start pass. A person's approval of a proposal comes only from the gate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Approval {
    /// It is the user's own hand.
    User,
    /// Nobody had to be asked.
    Auto,
    /// A person was asked, and said yes.
    Granted(Consent),
}

/// A person's yes to exactly one thing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Consent {
    pub(crate) proposal: ProposalId,
    pub(crate) digest: Digest,
    pub(crate) at: Timestamp,
}

impl Consent {
    /// Returns what a task keeps of it.
    pub(crate) fn on_record(&self) -> ApprovalRecord {
        ApprovalRecord { proposal: self.proposal.clone(), digest: self.digest.clone() }
    }
}

impl Approval {
    /// Returns the word for the record: `user`, or `auto` when nobody had to be asked.
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
